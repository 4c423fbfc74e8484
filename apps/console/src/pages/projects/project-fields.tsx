import { ListContextFields } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import type { RequestBodyField } from '../../components/forms/request-body-form.tsx';
import { RadioGroup } from '../../components/forms/radio-group.tsx';
import { modeNames } from './project-mode-badge.tsx';

export const collaborationModes = {
  open: [modeNames.open, 'All users see it, and may propose changes'],
  protected: [modeNames.protected, 'All users see it; members propose changes'],
  private: [modeNames.private, 'Only members see it; integrations for all projects send its events, too'],
} as const;

/** The form field for the default stickiness: one of the context fields that can be used for it. */
export function useStickinessField(): RequestBodyField {
  const { data = [] } = useQuery({ ...operationQuery(ListContextFields, {}), staleTime: 60_000 });
  const stickyFieldNames = data.filter(({ stickiness }) => stickiness === true).map(({ name }) => name);
  const options = [...new Set(['default', 'random', ...stickyFieldNames])].map((id) => ({ id, label: id }));
  return {
    name: 'defaultStickiness',
    label: 'Default stickiness',
    hint: 'The context field that keeps users on one side of a rollout, for new strategies',
    options,
  };
}

/** The form field for the mode of a project, which decides who sees it and who proposes changes in it. */
export const modeField: RequestBodyField = {
  name: 'mode',
  label: 'Who sees it and proposes changes',
  render: (value, onChange) => (
    <RadioGroup
      label="Who sees it and proposes changes"
      options={Object.entries(collaborationModes).map(([id, [label, description]]) => ({ id, label, description }))}
      value={typeof value === 'string' ? value : null}
      onChange={onChange}
    />
  ),
};
