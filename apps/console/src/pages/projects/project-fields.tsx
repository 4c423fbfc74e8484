import { ListContextFields } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/queries.ts';
import type { RequestBodyField } from '../../components/forms/request-body-form.tsx';
import { RadioGroup } from '../../components/forms/fields.tsx';
import { projectsMessages as text } from '../../messages/projects.ts';

/** The context fields that a rollout can use as stickiness. */
export const useStickinessField = (): RequestBodyField => {
  const { data = [] } = useQuery({ ...operationQuery(ListContextFields, {}), staleTime: 60_000 });
  const sticky = data.filter(({ stickiness }) => stickiness === true).map(({ name }) => name);
  const options = [...new Set(['default', 'random', ...sticky])].map((id) => ({ id, label: id }));
  return { name: 'defaultStickiness', label: text.stickiness, hint: text.stickinessHint, options };
};

/** Who sees a project and proposes changes. */
export const modeField: RequestBodyField = {
  name: 'mode',
  label: text.mode,
  render: (value, onChange) => (
    <RadioGroup
      label={text.mode}
      options={Object.entries(text.modes).map(([id, [label, description]]) => ({ id, label, description }))}
      value={typeof value === 'string' ? value : null}
      onChange={onChange}
    />
  ),
};
