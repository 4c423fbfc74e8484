import { EvaluateImpact, type FeatureChange, type ImpactResult } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useState } from 'react';
import { read } from '../../api/queries.ts';
import { Badge, ErrorNotice, Loading, Notice } from '../../components/content.tsx';
import { TextField } from '../../components/fields.tsx';
import { messages } from '../../messages.ts';
import { parseExamples } from './example-users.ts';
import styles from './strategy.module.css';

interface ImpactPanelProps {
  readonly project: string;
  readonly environment: string;
  readonly changes: readonly FeatureChange[];
  /** in words, now and afterwards; undefined where there is none */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isEnabled: boolean;
  readonly widensToEverybody: boolean;
}

type Impact = ImpactResult['features'][number];

/** A value that follows another once that has stayed the same for a while. */
const useSettled = <T,>(value: T, key: string): T => {
  const [settled, setSettled] = useState({ value, key });
  useEffect(() => {
    if (settled.key === key) return undefined;
    const timer = setTimeout(() => setSettled({ value, key }), 300);
    return () => clearTimeout(timer);
  }, [value, key, settled.key]);
  return settled.value;
};

const percent = (share: number): string => `${share} %`;

interface ImpactGroupsProps extends Pick<Impact, 'groups'> {
  readonly label: string;
}

/** The groups of users for whom something changes, with the shares that gain and lose. */
export const ImpactGroups = ({ groups, label }: ImpactGroupsProps) => {
  const moving = groups.filter(({ gains, loses, changesVariant }) => gains + loses + changesVariant > 0);
  if (moving.length === 0) return <p>{messages.strategy.noImpact}</p>;
  return (
    <div role="region" aria-label={label} tabIndex={0}>
      <table className={styles['groups']}>
        <thead>
          <tr>
            <th scope="col">{messages.strategy.users}</th>
            <th scope="col">{messages.strategy.beforeAfter}</th>
            <th scope="col">{messages.strategy.effect}</th>
          </tr>
        </thead>
        <tbody>
          {moving.map(({ context, before, after, gains, loses, changesVariant }) => (
            <tr key={JSON.stringify(context)}>
              <td>
                {Object.keys(context).length === 0
                  ? messages.strategy.otherUsers(groups.length > 1)
                  : messages.strategy.usersWith(context)}
              </td>
              <td className={styles['number']}>
                {percent(before)} → {percent(after)}
              </td>
              <td className={styles['number']}>
                {gains > 0 && <div className={styles['gains']}>{messages.strategy.gains(gains)}</div>}
                {loses > 0 && <div className={styles['loses']}>{messages.strategy.loses(loses)}</div>}
                {changesVariant > 0 && <div>{messages.strategy.changesVariant(changesVariant)}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

/** What a change does before it is saved: in words, as the share of users that gain and lose, and for example users. */
export const ImpactPanel = (props: ImpactPanelProps) => {
  const { project, environment, changes, before, after, isEnabled, widensToEverybody } = props;
  const [exampleText, setExampleText] = useState('');
  const examples = parseExamples(useDeferredValue(exampleText));
  const body = { project, environment, changes, contexts: examples.map(({ context }) => context) };
  const settled = useSettled(body, JSON.stringify(body));
  const query = useQuery({
    ...read(EvaluateImpact, { body: settled }),
    placeholderData: keepPreviousData,
    enabled: settled.changes.length > 0,
  });
  const impact = query.data?.features.find(({ name }) => changes.some(({ feature }) => feature === name));
  return (
    <section className={styles['section']} aria-labelledby="impact" aria-live="polite">
      <h2 id="impact">{messages.strategy.impact}</h2>
      <dl className={styles['sentences']}>
        {before !== undefined && (
          <>
            <dt>{messages.strategy.before}</dt>
            <dd>{before}.</dd>
          </>
        )}
        {after !== undefined && (
          <>
            <dt>{messages.strategy.after}</dt>
            <dd>{after}.</dd>
          </>
        )}
      </dl>
      {widensToEverybody && <Notice tone="warning">{messages.strategy.widens}</Notice>}
      {!isEnabled && <Notice>{messages.strategy.isOff(environment)}</Notice>}
      {changes.length === 0 ? (
        <p className={styles['muted']}>{messages.strategy.unchanged}</p>
      ) : query.error !== null ? (
        <ErrorNotice error={query.error} />
      ) : impact === undefined ? (
        <Loading />
      ) : (
        <>
          <ImpactGroups groups={impact.groups} label={messages.strategy.shares} />
          {!impact.isComplete && <p className={styles['muted']}>{messages.strategy.incomplete}</p>}
          <p className={styles['muted']}>{messages.strategy.sample(query.data?.users ?? 0)}</p>
        </>
      )}
      <TextField
        label={messages.strategy.examples}
        hint={messages.strategy.examplesHint}
        placeholder="userId=ann country=no"
        rows={2}
        value={exampleText}
        onChange={setExampleText}
      />
      {impact !== undefined && impact.examples.length > 0 && (
        <ul className={styles['form']}>
          {impact.examples.map(({ before: was, after: is }, at) => (
            <li key={at} className={styles['head']}>
              <code>{examples[at]?.text}</code>
              <span>
                {messages.strategy.result(was)} →{' '}
                <Badge tone={is.isEnabled ? 'good' : 'neutral'}>{messages.strategy.result(is)}</Badge>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};
