import type { Json } from '../../../merging/json.ts';
import { lineDiff } from './line-diff.ts';
import styles from '../events.module.css';

const formatJson = (value: Json | undefined): string => (value == null ? '' : JSON.stringify(value, null, 2));
const linePrefixes = { same: ' ', removed: '−', added: '+' } as const;

interface JsonDiffProps {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly label: string;
}

/** The JSON of two values as one text, in which removed and added lines are marked. */
export const JsonDiff = ({ before, after, label }: JsonDiffProps) => (
  <div role="region" aria-label={label} tabIndex={0} className={styles['diff']}>
    {lineDiff(formatJson(before), formatJson(after))
      .filter(({ text }) => text !== '')
      .map(({ kind, text }, index) => {
        const Line = kind === 'removed' ? 'del' : kind === 'added' ? 'ins' : 'span';
        return (
          <Line key={index} className={styles[kind]}>
            {linePrefixes[kind]} {text}
          </Line>
        );
      })}
  </div>
);
