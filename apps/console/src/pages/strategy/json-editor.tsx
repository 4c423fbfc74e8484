import { memo, useMemo, useState } from 'react';
import { jsonFaultAt, type JsonToken, jsonTokens, matchingBrackets } from './json-text.ts';
import styles from './json-editor.module.css';

interface Mark {
  readonly at: number;
  readonly kind: 'pair' | 'fault';
}

interface LineProps {
  readonly text: string;
  /** the places within the line that are marked, as `kind:offset`, joined by blanks: the same for lines that need not be drawn again */
  readonly marks: string;
}

const Line = memo(({ text, marks }: LineProps) => {
  const tokens = jsonTokens(text);
  const marked = new Map(marks.split(' ').map((mark) => mark.split(':').toReversed() as [string, string]));
  const isKey = (nth: number): boolean =>
    tokens[nth]?.kind === 'string' && tokens.slice(nth + 1).find(({ kind }) => kind !== 'blank')?.text === ':';
  return (
    <div className={styles['line']}>
      {tokens.map((token, nth) => (
        <span key={token.at} data-kind={isKey(nth) ? 'key' : token.kind} data-mark={marked.get(String(token.at))}>
          {token.text}
        </span>
      ))}
      {marked.has(String(text.length)) && <span data-mark={marked.get(String(text.length))}> </span>}
    </div>
  );
});
Line.displayName = 'Line';

/** The lines of a text, each with its marks. */
function linesOf(text: string, marks: readonly Mark[]): readonly LineProps[] {
  let begin = 0;
  return text.split('\n').map((line) => {
    const [from, to] = [begin, begin + line.length];
    begin = to + 1;
    const own = marks.filter(({ at }) => at >= from && at <= to);
    return { text: line, marks: own.map(({ kind, at }) => `${kind}:${at - from}`).join(' ') };
  });
}

function marksOf(tokens: readonly JsonToken[], cursor: number | undefined): readonly Mark[] {
  const pair = cursor === undefined ? undefined : matchingBrackets(tokens, cursor);
  const fault = jsonFaultAt(tokens);
  return [
    ...(pair ?? []).map((at) => ({ kind: 'pair' as const, at })),
    ...(fault === undefined ? [] : [{ kind: 'fault' as const, at: fault }]),
  ];
}

/** The longest text, in characters, whose letters are coloured: drawing more of them would make each key slow. */
const maxColoured = 20_000;

interface JsonEditorProps {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/**
 * An editor of JSON text. It is a text area, with what a browser gives one, such as undo and the words of a screen reader; what is drawn
 * behind it, unless the text is very long, has the same letters in colours, with marks where it stops being JSON and at the brackets
 * beside the cursor.
 */
export function JsonEditor({ label, text, onChange }: JsonEditorProps) {
  const [cursor, setCursor] = useState<number>();
  const isColoured = text.length <= maxColoured;
  const tokens = useMemo(() => (isColoured ? jsonTokens(text) : []), [isColoured, text]);
  const marks = useMemo(() => (isColoured ? marksOf(tokens, cursor) : []), [isColoured, tokens, cursor]);
  return (
    <div className={styles['editor']}>
      <div className={isColoured ? styles['sheet'] : undefined}>
        {isColoured && (
          <div aria-hidden="true" className={styles['letters']}>
            {linesOf(text, marks).map((line, nth) => (
              <Line key={nth} {...line} />
            ))}
          </div>
        )}
        <textarea
          aria-label={label}
          aria-invalid={marks.some(({ kind }) => kind === 'fault')}
          value={text}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          autoCorrect="off"
          className={isColoured ? styles['input'] : styles['plainInput']}
          rows={isColoured ? undefined : 40}
          onChange={({ target }) => onChange(target.value)}
          onSelect={({ currentTarget: { selectionStart, selectionEnd } }) =>
            setCursor(selectionStart === selectionEnd ? selectionStart : undefined)
          }
          onBlur={() => setCursor(undefined)}
        />
      </div>
    </div>
  );
}
