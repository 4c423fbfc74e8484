import type { AnyOperation, Constraint, Segment } from '@bunting/contracts';
import { useMayCall } from '../../../api/permissions.ts';
import { useProjects } from '../../../api/queries-and-mutations.ts';
import { Notice } from '../../../components/content/notice.tsx';
import type { RequestBodyField } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import { constraintsForRequest } from '../../../strategies/strategy-draft.ts';
import { ConstraintsEditor } from '../../strategy/constraints-editor.tsx';
import { useValueQuestion } from '../../strategy/use-value-question.ts';

/** The fields of a segment. @param current the project in which it is offered now */
export function useFields(operation: AnyOperation, current?: string | null): readonly RequestBodyField[] {
  const mayCall = useMayCall();
  const projects = (useProjects().data?.projects ?? []).filter(
    ({ id }) => id === current || mayCall(operation, { project: id }),
  );
  const everywhere = current === null || mayCall(operation) ? [{ id: '', label: 'Every project' }] : [];
  return [
    { name: 'name', label: 'Name' },
    { name: 'description', label: 'Description', rows: 2 },
    {
      name: 'project',
      label: 'Offered in',
      hint: 'A segment of one project is offered there only.',
      options: [...everywhere, ...projects.map(({ id, name }) => ({ id, label: name }))],
      isLong: true,
    },
  ];
}

export function bodyOfSegment({ name, description, project, constraints }: Segment): FormValues {
  return {
    name,
    description: description ?? null,
    project: project ?? null,
    constraints,
  };
}

function constraintsOf({ constraints }: FormValues): readonly Constraint[] {
  return Array.isArray(constraints) ? (constraints as Constraint[]) : [];
}

/** What the forms of a new and of a stored segment have in common. */
export function useSegmentForm() {
  const question = useValueQuestion();
  return {
    isComplete: (values: FormValues) => question.requireValues(constraintsOf(values)),
    prepare: (body: FormValues) => ({ ...body, constraints: constraintsForRequest(constraintsOf(body)) }),
    /** The constraints of a segment. @param hasList whether it has a list of ids as well */
    renderConstraints: (values: FormValues, onChange: (changed: FormValues) => void, hasList: boolean) => (
      <ConstraintsEditor
        question={question}
        constraints={constraintsOf(values)}
        whenEmpty={!hasList && <Notice tone="warning">Without a constraint, everybody is in the segment.</Notice>}
        onChange={(constraints) => onChange({ constraints })}
      />
    ),
  };
}
