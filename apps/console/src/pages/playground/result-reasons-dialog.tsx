import {
  EvaluateAdvancedPlayground,
  type PlaygroundFeature,
  constraintPhrase,
  strategySentence,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { contextLine } from './playground-input.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './playground.module.css';

const texts = {
  contextHas: (value: string | undefined) => (value === undefined ? 'the context has no value' : `it is ${value}`),
} as const;

type Context = Readonly<Record<string, string>>;
type ExplainedStrategy = PlaygroundFeature['strategies']['data'][number];
type ExplainedConstraint = ExplainedStrategy['constraints'][number];

interface CheckProps {
  readonly holds: boolean;
  readonly children: React.ReactNode;
}

function Check({ holds, children }: CheckProps) {
  return (
    <li className={styles['check']}>
      <span className={holds ? styles['holds'] : styles['fails']}>
        <Icon name={holds ? 'check' : 'close'} />
      </span>
      <div>
        {children}
        <span className="visually-hidden">: {holds ? 'holds' : 'does not hold'}</span>
      </div>
    </li>
  );
}

function ConstraintCheck({ constraint, context }: { constraint: ExplainedConstraint; context: Context }) {
  return (
    <Check holds={constraint.result}>
      {constraintPhrase(constraint as Parameters<typeof constraintPhrase>[0])}{' '}
      <span className={layout['small']}>({texts.contextHas(context[constraint.contextName])})</span>
    </Check>
  );
}

function resultBadge(isOn: boolean | 'unknown', variant?: string | undefined) {
  return (
    <Badge tone={isOn === true ? 'good' : isOn === 'unknown' ? 'warning' : 'neutral'}>
      {isOn === 'unknown' ? 'unknown' : isOn ? (variant === undefined ? 'on' : `on, ${variant}`) : 'off'}
    </Badge>
  );
}

function StrategyReasons({ strategy, context }: { strategy: ExplainedStrategy; context: Context }) {
  const { constraints, segments, result, disabled, title } = strategy;
  const { rollout, variant } = result;
  const segmentNames = new Map(segments.map(({ id, name }) => [id, name]));
  const sentence = strategySentence(
    { ...strategy, segments: segments.map(({ id }) => id) } as Parameters<typeof strategySentence>[0],
    segmentNames,
  );
  return (
    <li className={styles['strategy']}>
      <div className={layout['bar']}>
        <span dir="auto">
          {title != null && title !== '' && <strong>{title}: </strong>}
          {sentence}.
        </span>
        {resultBadge(disabled ? false : result.enabled, variant?.enabled === true ? variant.name : undefined)}
      </div>
      {disabled ? (
        <p className={layout['small']}>disabled, so it is not evaluated</p>
      ) : (
        <ul>
          {constraints.map((constraint, index) => (
            <ConstraintCheck key={index} constraint={constraint} context={context} />
          ))}
          {segments.map((segment) => (
            <Check key={segment.id} holds={segment.result}>
              Segment {segment.name}
              <ul>
                {segment.constraints.map((constraint, index) => (
                  <ConstraintCheck key={index} constraint={constraint} context={context} />
                ))}
              </ul>
            </Check>
          ))}
          {rollout !== undefined && (
            <Check holds={rollout.bucket !== null && rollout.bucket <= rollout.percentage}>
              {rollout.bucket === null
                ? `The context has no ${rollout.stickiness === 'default' ? 'userId or sessionId' : rollout.stickiness}, which the share of users goes by.`
                : `Bucket ${rollout.bucket} of 100 by ${rollout.stickiness === 'default' ? 'userId, else sessionId' : rollout.stickiness}: ${rollout.bucket <= rollout.percentage ? 'within' : 'above'} the share of ${rollout.percentage} %.`}
            </Check>
          )}
        </ul>
      )}
      {!disabled && result.evaluationStatus === 'incomplete' && (
        <p className={layout['small']}>Only the application can evaluate this type of strategy.</p>
      )}
    </li>
  );
}

function conclusionOf(feature: PlaygroundFeature): string {
  if (feature.isEnabled)
    return feature.strategies.data.length === 0 ? 'It has no strategy, so it is on for everybody.' : 'It is on.';
  if (!feature.isEnabledInCurrentEnvironment) return 'The flag is not enabled in this environment.';
  if (feature.hasUnsatisfiedDependency) return 'A flag that it depends on is not as it must be.';
  return feature.strategies.result === 'unknown'
    ? 'Only the application can evaluate a strategy of it; without that, it is off.'
    : 'No strategy is on for this context.';
}

interface ReasonsProps extends ResultCell {
  readonly title: string;
  readonly changeRequest?: number | undefined;
}

/** Why one flag is on or off for a context, strategy by strategy. */
function Reasons({ title, flag, project, environment, context, changeRequest }: ReasonsProps) {
  const body = { environments: [environment], projects: [project], features: [flag], context };
  const query = useQuery(
    operationQuery(EvaluateAdvancedPlayground, {
      body: { ...body, ...(changeRequest === undefined ? {} : { changeRequest }) },
    }),
  );
  return (
    <section className={layout['denseStack']} aria-label={title}>
      <h3>{title}</h3>
      <QueryResult query={query}>
        {({ features }) => {
          const feature = features[0]?.environments[environment]?.[0];
          if (feature === undefined) return <p>The change request archives the flag.</p>;
          const { variant, dependencies, strategies, isEnabled } = feature;
          return (
            <>
              <div className={layout['bar']}>
                <p>{conclusionOf(feature)}</p>
                {resultBadge(isEnabled, variant?.enabled === true ? variant.name : undefined)}
              </div>
              {dependencies.length > 0 && (
                <div>
                  <p className={layout['small']}>Depends on</p>
                  <ul className={styles['checks']}>
                    {dependencies.map(({ feature: parent, enabled, variants, result }) => (
                      <Check key={parent} holds={result}>
                        {parent} must be {enabled ? 'on' : 'off'}
                        {variants.length === 0 ? '' : ` as ${variants.join(' or ')}`}
                      </Check>
                    ))}
                  </ul>
                </div>
              )}
              {strategies.data.length > 0 && (
                <ol className={layout['denseStack']} aria-label="Strategies">
                  {strategies.data.map((strategy) => (
                    <StrategyReasons key={strategy.id} strategy={strategy} context={context} />
                  ))}
                </ol>
              )}
            </>
          );
        }}
      </QueryResult>
    </section>
  );
}

/** Identifies one result of the table: of a flag, in an environment, for a context. */
export interface ResultCell {
  readonly flag: string;
  readonly project: string;
  readonly environment: string;
  readonly context: Context;
}

interface ResultReasonsDialogProps extends ResultCell {
  readonly changeRequest: number | undefined;
  readonly onClose: () => void;
}

/** Why a flag is on or off: now and, next to it, as if the change request were applied. */
export function ResultReasonsDialog({ changeRequest, onClose, ...cell }: ResultReasonsDialogProps) {
  return (
    <Dialog
      title={`${cell.flag} in ${cell.environment}`}
      onClose={onClose}
      isWide={changeRequest !== undefined}
      footer={
        <>
          <Link
            to="/projects/$project/features/$feature"
            params={{ project: cell.project, feature: cell.flag }}
            className={buttonClass()}
          >
            Open the flag
          </Link>
          <Button variant="primary" onPress={onClose}>
            Close
          </Button>
        </>
      }
    >
      <p className={layout['small']}>
        <code>{contextLine(cell.context) || 'no context'}</code>
      </p>
      <div className={styles['sides']}>
        <Reasons title="Now" {...cell} />
        {changeRequest !== undefined && (
          <Reasons title={`After change request ${changeRequest}`} {...cell} changeRequest={changeRequest} />
        )}
      </div>
    </Dialog>
  );
}
