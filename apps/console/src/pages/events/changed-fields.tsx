import { type Constraint, type FieldChange, isJsonObject, type Json, constraintPhrase } from '@bunting/contracts';
import { lineDiff } from './line-diff.ts';
import styles from './events.module.css';

interface ChangedFieldsProps {
  readonly label: string;
  readonly changes: readonly FieldChange[];
  /** the column to leave out, because no field has a value on that side */
  readonly hiddenSide?: 'before' | 'after';
  readonly titles?: { readonly before: string; readonly after: string };
}

function isConstraint(value: Json): boolean {
  return isJsonObject(value) && typeof value['contextName'] === 'string' && typeof value['operator'] === 'string';
}

/** A value as text: a list of constraints in words, a text as it is, and any other value as JSON. */
function formatJson(value: Json): string {
  if (typeof value === 'string') return value;
  const items = Array.isArray(value) ? (value as readonly Json[]) : [];
  if (items.length > 0 && items.every(isConstraint))
    return items.map((item) => constraintPhrase(item as unknown as Constraint)).join('\n');
  return JSON.stringify(value);
}

function isEmpty(value: Json | undefined): boolean {
  return (
    value == null || value === '' || value === false || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

function Value({ value, side }: { readonly value: Json | undefined; readonly side: 'before' | 'after' }) {
  return value === undefined || (value !== false && isEmpty(value)) ? (
    <span className={styles['absent']}>{value === '' ? '""' : 'nothing'}</span>
  ) : (
    <bdi className={styles[side]}>{formatJson(value)}</bdi>
  );
}

/** A table of changed fields with their values before and after the change. */
export function ChangedFields({
  label,
  changes,
  hiddenSide,
  titles = { before: 'Before', after: 'After' },
}: ChangedFieldsProps) {
  // What is created or deleted has fields without a value, which tell nobody anything.
  const telling = changes.filter(({ before, after }) => !isEmpty(before) || !isEmpty(after));
  const shown = telling.length > 0 ? telling : changes;
  return (
    <div role="region" aria-label={label} tabIndex={0} className={styles['changes']}>
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            {hiddenSide !== 'before' && <th scope="col">{titles.before}</th>}
            {hiddenSide !== 'after' && <th scope="col">{titles.after}</th>}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ path, before, after }) => (
            <tr key={path.join('/')}>
              <th scope="row">{path.join(' › ')}</th>
              {hiddenSide !== 'before' && (
                <td>
                  <Value value={before} side="before" />
                </td>
              )}
              {hiddenSide !== 'after' && (
                <td>
                  <Value value={after} side="after" />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function prettyJson(value: Json | undefined): string {
  return value == null ? '' : JSON.stringify(value, null, 2);
}
const linePrefixes = { same: ' ', removed: '−', added: '+' } as const;

interface JsonDiffProps {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly label: string;
}

/** The JSON of two values as one text, in which removed and added lines are marked. */
export function JsonDiff({ before, after, label }: JsonDiffProps) {
  return (
    <div role="region" aria-label={label} tabIndex={0} className={styles['diff']}>
      {lineDiff(prettyJson(before), prettyJson(after))
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
}
