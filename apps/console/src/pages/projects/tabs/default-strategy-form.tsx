import {
  type Constraint,
  type CreateStrategyBody,
  type EnvironmentListOfProject,
  type FeatureStrategy,
  ListEnvironmentsOfProject,
  SetDefaultStrategy,
} from '@bunting/contracts';
import type { Static } from 'typebox';
import { call } from '../../../api/call.ts';
import { RequestBodyForm } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { strategyDraftOf, constraintsForRequest, strategyBodyOf } from '../../../strategies/strategy-draft.ts';
import { ConstraintsEditor } from '../../strategy/constraints-editor.tsx';
import { SegmentPicker } from '../../strategy/segment-picker.tsx';
import { StrategyTypeFields } from '../../strategy/strategy-type-fields.tsx';
import { useValueQuestion } from '../../strategy/use-value-question.ts';
import { VariantsEditor } from '../../strategy/variants-editor.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../projects.module.css';

type StoredStrategy = EnvironmentListOfProject['environments'][number]['defaultStrategy'];

/** The strategy that a flag gets in an environment without a default strategy: a rollout to everybody. */
const rolloutToEverybody: FeatureStrategy = {
  name: 'flexibleRollout',
  parameters: { rollout: '100', stickiness: 'default' },
};

function valuesOfStrategy(stored: StoredStrategy): FormValues {
  const { disabled: _, ...draft } = strategyBodyOf(strategyDraftOf((stored ?? rolloutToEverybody) as FeatureStrategy));
  return draft;
}

interface DefaultStrategyFormProps {
  readonly project: string;
  readonly environment: string;
  readonly stored: StoredStrategy | undefined;
  readonly onClose: () => void;
}

/** Edits the default strategy of an environment: a flag of the project that has no strategy there gets it when it is turned on. */
export function DefaultStrategyForm({ project, environment, stored, onClose }: DefaultStrategyFormProps) {
  const question = useValueQuestion();
  return (
    <section className={styles['section']} aria-labelledby="default-strategy">
      <h2 id="default-strategy">Default strategy in {environment}</h2>
      <p className={layout['muted']}>
        A flag that is turned on here without a strategy gets this one. Flags that have a strategy keep it.
      </p>
      <RequestBodyForm
        isNew
        operation={SetDefaultStrategy}
        request={{ params: { projectId: project, environment } }}
        values={valuesOfStrategy(stored)}
        readStored={async () => {
          const value = await call(ListEnvironmentsOfProject, { params: { projectId: project } });
          const current = value.environments.find(({ name }) => name === environment);
          return { value: valuesOfStrategy(current?.defaultStrategy) };
        }}
        isComplete={({ constraints = [] }) => question.requireValues(constraints as readonly Constraint[])}
        prepare={({ constraints = [], ...body }) => ({
          ...body,
          constraints: constraintsForRequest(constraints as readonly Constraint[]),
        })}
        fields={[]}
        renderBody={(values, onChange) => {
          const draft = strategyDraftOf(values as Static<typeof CreateStrategyBody> as FeatureStrategy);
          return (
            <>
              <StrategyTypeFields
                draft={draft}
                onChange={({ name, parameters, variants }) => onChange({ name, parameters, variants })}
              />
              <SegmentPicker project={project} draft={draft} onChange={({ segments }) => onChange({ segments })} />
              <ConstraintsEditor
                question={question}
                constraints={draft.constraints}
                onChange={(constraints) => onChange({ constraints })}
              />
              <VariantsEditor
                variants={draft.variants}
                stickiness={draft.parameters['stickiness'] ?? 'default'}
                onChange={(variants) => onChange({ variants })}
              />
            </>
          );
        }}
        notification={() => `The default strategy in ${environment} is saved.`}
        onDone={onClose}
        footer={<Button onPress={onClose}>Cancel</Button>}
      />
    </section>
  );
}
