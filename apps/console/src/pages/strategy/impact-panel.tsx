import { EvaluateImpact, type FeatureChange } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { useTriedValues } from '../../strategies/use-tried-values.ts';
import { type ExampleUser, lacksValue } from './strategy-inputs.ts';
import { DependentImpact, ImpactGroups, Incompleteness } from './impact-groups.tsx';
import { useDebounced } from './use-example-matches.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './strategy.module.css';
import { formatCount } from '../../text/format-number.ts';

const texts = {
  result: ({ isEnabled, variant }: { readonly isEnabled: boolean; readonly variant: string }) =>
    isEnabled ? (variant === 'disabled' ? 'on' : `on, ${variant}`) : 'off',
} as const;

interface ImpactPanelProps {
  readonly project: string;
  readonly environment: string;
  readonly changes: readonly FeatureChange[];
  /** the strategy in words before the change; undefined if it is new */
  readonly before: string | undefined;
  /** the strategy in words after the change; undefined if it is deleted */
  readonly after: string | undefined;
  readonly isEnabled: boolean;
  readonly widensToEverybody: boolean;
  readonly exampleText: string;
  /** the example users that the text describes */
  readonly examples: readonly ExampleUser[];
  readonly onExampleText: (text: string) => void;
}

/** Whether a constraint of a changed strategy has no value yet: the server would refuse it. */
function isIncomplete(changes: readonly FeatureChange[]): boolean {
  return changes.some(
    (change) =>
      (change.action === 'addStrategy' || change.action === 'updateStrategy') &&
      change.payload.constraints?.some(lacksValue) === true,
  );
}

/** Previews a change before it is saved: in words, as the shares of users that gain or lose the flag, and for example users. */
export function ImpactPanel(props: ImpactPanelProps) {
  const { project, environment, changes, before, after, isEnabled, widensToEverybody, exampleText, examples } = props;
  const { remember } = useTriedValues();
  const body = { project, environment, changes, contexts: examples.map(({ context }) => context) };
  const debouncedBody = useDebounced(body, JSON.stringify(body));
  const query = useQuery({
    ...operationQuery(EvaluateImpact, { body: debouncedBody }),
    placeholderData: keepPreviousData,
    enabled: debouncedBody.changes.length > 0 && !isIncomplete(changes) && !isIncomplete(debouncedBody.changes),
  });
  const impact = query.data?.features.find(({ name }) => changes.some(({ feature }) => feature === name));
  const dependents = query.data?.features.filter(({ dependsOn }) => dependsOn !== undefined) ?? [];
  return (
    <section className={layout['card']} aria-labelledby="impact" aria-live="polite">
      <h2 id="impact">What this change does</h2>
      <dl className={layout['facts']}>
        {before !== undefined && (
          <>
            <dt>Now</dt>
            <dd>{before}.</dd>
          </>
        )}
        {after !== undefined && (
          <>
            <dt>After</dt>
            <dd>{after}.</dd>
          </>
        )}
      </dl>
      {widensToEverybody && <Notice tone="warning">After this, the strategy is on for everybody.</Notice>}
      {!isEnabled && <Notice>The flag is off in {environment}: no user is affected until it is turned on.</Notice>}
      {changes.length === 0 ? (
        <p className={layout['small']}>Nothing is changed yet.</p>
      ) : isIncomplete(changes) ? (
        <p className={layout['small']}>Enter a value in each constraint to see what this does.</p>
      ) : query.error !== null ? (
        <ErrorNotice error={query.error} />
      ) : impact === undefined ? (
        <Loading />
      ) : (
        <>
          <ImpactGroups groups={impact.groups} label="Shares of users" />
          <Incompleteness isComplete={impact.isComplete} />
          {dependents.map((dependent) => (
            <DependentImpact key={dependent.name} {...dependent} />
          ))}
          <p className={layout['small']}>
            Evaluated for {formatCount(query.data?.users ?? 0, 'generated user')} of each kind, by the server’s own
            rules.
          </p>
        </>
      )}
      <TextField
        label="Example users"
        hint="One on each line, as the application describes them."
        placeholder="userId=ann country=no"
        rows={2}
        value={exampleText}
        onChange={props.onExampleText}
        onBlur={() => remember(examples.flatMap(({ context }) => Object.entries(context)))}
      />
      {impact !== undefined && impact.examples.length > 0 && (
        <ul className={styles['form']}>
          {impact.examples.map(({ before: resultBefore, after: resultAfter }, index) => (
            <li key={index} className={layout['bar']}>
              <code>{examples[index]?.text}</code>
              <span>
                {texts.result(resultBefore)} →{' '}
                <Badge tone={resultAfter.isEnabled ? 'good' : 'neutral'}>{texts.result(resultAfter)}</Badge>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
