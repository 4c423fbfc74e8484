import { ListContextFields } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import type { RequestBodyField } from '../../components/forms/request-body-form.tsx';
import { RadioGroup } from '../../components/forms/fields.tsx';
import { projectsMessages as text } from '../../messages/projects.ts';

/** The form field for the default stickiness: one of the context fields that can be used for it. */
export const useStickinessField = (): RequestBodyField => {
  const { data = [] } = useQuery({ ...operationQuery(ListContextFields, {}), staleTime: 60_000 });
  const stickyFieldNames = data.filter(({ stickiness }) => stickiness === true).map(({ name }) => name);
  const options = [...new Set(['default', 'random', ...stickyFieldNames])].map((id) => ({ id, label: id }));
  return { name: 'defaultStickiness', label: text.stickiness, hint: text.stickinessHint, options };
};

/** The form field for the mode of a project, which decides who sees it and who proposes changes in it. */
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
