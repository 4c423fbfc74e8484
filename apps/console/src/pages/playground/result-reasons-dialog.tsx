import { EvaluateAdvancedPlayground, type PlaygroundFeature } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { playgroundMessages as text } from '../../messages/playground.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { constraintPhrase, strategySentence } from '../../messages/sentences/strategy-sentence.ts';
import { contextLine } from './context-text.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './playground.module.css';

type Context = Readonly<Record<string, string>>;
type ExplainedStrategy = PlaygroundFeature['strategies']['data'][number];
type ExplainedConstraint = ExplainedStrategy['constraints'][number];

interface CheckProps {
  readonly holds: boolean;
  readonly children: React.ReactNode;
}

const Check = ({ holds, children }: CheckProps) => (
  <li className={styles['check']}>
    <span className={holds ? styles['holds'] : styles['fails']}>
      <Icon name={holds ? 'check' : 'close'} />
    </span>
    <div>
      {children}
      <span className="visually-hidden">: {holds ? text.fulfilled : text.notFulfilled}</span>
    </div>
  </li>
);

const ConstraintCheck = ({ constraint, context }: { constraint: ExplainedConstraint; context: Context }) => (
  <Check holds={constraint.result}>
    {constraintPhrase(constraint as Parameters<typeof constraintPhrase>[0])}{' '}
    <span className={layout['small']}>({text.contextHas(context[constraint.contextName])})</span>
  </Check>
);

const resultBadge = (isOn: boolean | 'unknown', variant?: string | undefined) => (
  <Badge tone={isOn === true ? 'good' : isOn === 'unknown' ? 'warning' : 'neutral'}>
    {isOn === 'unknown' ? text.unknown : isOn ? (variant === undefined ? text.on : text.onVariant(variant)) : text.off}
  </Badge>
);

const StrategyReasons = ({ strategy, context }: { strategy: ExplainedStrategy; context: Context }) => {
  const { constraints, segments, result, disabled, title } = strategy;
  const { rollout, variant } = result;
  const segmentNames = new Map(segments.map(({ id, name }) => [id, name]));
  const sentence = strategySentence(
    { ...strategy, segments: segments.map(({ id }) => id) } as Parameters<typeof strategySentence>[0],
    segmentNames,
  );
  return (
    <li className={styles['strategy']}>
      <div className={styles['head']}>
        <span dir="auto">
          {title != null && title !== '' && <strong>{title}: </strong>}
          {sentence}.
        </span>
        {resultBadge(disabled ? false : result.enabled, variant?.enabled === true ? variant.name : undefined)}
      </div>
      {disabled ? (
        <p className={layout['small']}>{text.disabledStrategy}</p>
      ) : (
        <ul>
          {constraints.map((constraint, index) => (
            <ConstraintCheck key={index} constraint={constraint} context={context} />
          ))}
          {segments.map((segment) => (
            <Check key={segment.id} holds={segment.result}>
              {text.segment(segment.name)}
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
                ? text.noBucket(rollout.stickiness)
                : text.bucket(rollout.bucket, rollout.percentage, rollout.stickiness)}
            </Check>
          )}
        </ul>
      )}
      {!disabled && result.evaluationStatus === 'incomplete' && <p className={layout['small']}>{text.ownStrategy}</p>}
    </li>
  );
};

const conclusionOf = (feature: PlaygroundFeature): string => {
  const { conclusion } = text;
  if (feature.isEnabled) return feature.strategies.data.length === 0 ? conclusion.noStrategies : conclusion.on;
  if (!feature.isEnabledInCurrentEnvironment) return conclusion.disabled;
  if (feature.hasUnsatisfiedDependency) return conclusion.parent;
  return feature.strategies.result === 'unknown' ? conclusion.unknown : conclusion.noMatch;
};

interface ReasonsProps extends ResultCell {
  readonly title: string;
  readonly changeRequest?: number | undefined;
}

/** Why one flag is on or off for a context, strategy by strategy. */
const Reasons = ({ title, flag, project, environment, context, changeRequest }: ReasonsProps) => {
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
          if (feature === undefined) return <p>{text.conclusion.archived}</p>;
          const { variant, dependencies, strategies, isEnabled } = feature;
          return (
            <>
              <div className={styles['head']}>
                <p>{conclusionOf(feature)}</p>
                {resultBadge(isEnabled, variant?.enabled === true ? variant.name : undefined)}
              </div>
              {dependencies.length > 0 && (
                <div>
                  <p className={layout['small']}>{text.dependencies}</p>
                  <ul className={styles['checks']}>
                    {dependencies.map(({ feature: parent, enabled, variants, result }) => (
                      <Check key={parent} holds={result}>
                        {text.dependency(parent, enabled, variants)}
                      </Check>
                    ))}
                  </ul>
                </div>
              )}
              {strategies.data.length > 0 && (
                <ol className={layout['denseStack']} aria-label={text.strategies}>
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
};

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
export const ResultReasonsDialog = ({ changeRequest, onClose, ...cell }: ResultReasonsDialogProps) => (
  <Dialog
    title={text.why(cell.flag, cell.environment)}
    onClose={onClose}
    isWide={changeRequest !== undefined}
    footer={
      <>
        <Link
          to="/projects/$project/features/$feature"
          params={{ project: cell.project, feature: cell.flag }}
          className={buttonClass()}
        >
          {text.openFlag}
        </Link>
        <Button variant="primary" onPress={onClose}>
          {sharedMessages.common.close}
        </Button>
      </>
    }
  >
    <p className={layout['small']}>
      <code>{contextLine(cell.context) || text.anyone}</code>
    </p>
    <div className={styles['sides']}>
      <Reasons title={text.now} {...cell} />
      {changeRequest !== undefined && (
        <Reasons title={text.after(changeRequest)} {...cell} changeRequest={changeRequest} />
      )}
    </div>
  </Dialog>
);
