import { isEqual } from '@bunting/contracts';
import { Suspense, useState } from 'react';
import { Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { parseStrategyDraft, type StrategyDraft } from '../../strategies/strategy-draft.ts';
import { jsonFaultAt, jsonTokens, placeOf } from './json-text.ts';
import type { StrategyPartProps } from './use-strategy-edit.ts';
import layout from '../../components/layout/layout.module.css';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const JsonEditor = lazyPart(() => import('./json-editor.tsx').then(({ JsonEditor }) => JsonEditor));

/** Whether a JSON text describes the draft, whatever its white space. */
function describesDraft(text: string, draft: StrategyDraft): boolean {
  try {
    return isEqual(parseStrategyDraft(text), draft);
  } catch {
    return false;
  }
}

/** Where a text stops being JSON, as a sentence; undefined if it is JSON. */
function faultPlace(text: string): string | undefined {
  const fault = jsonFaultAt(jsonTokens(text));
  if (fault === undefined) return undefined;
  const { line, column } = placeOf(text, fault);
  return `The text is no JSON from line ${line}, column ${column}.`;
}

/** The draft as JSON beside the form. A text that is not a valid strategy is kept here, and the form keeps the last valid one. */
export function JsonSection({ draft, onChange }: StrategyPartProps) {
  const [typedText, setTypedText] = useState<{ readonly text: string; readonly error: string | undefined }>();
  const showsTypedText =
    typedText !== undefined && (typedText.error !== undefined || describesDraft(typedText.text, draft));
  const text = showsTypedText ? typedText.text : JSON.stringify(draft, null, 2);
  const edit = (typed: string): void => {
    if (typed === text) return;
    try {
      const parsed = parseStrategyDraft(typed);
      setTypedText({ text: typed, error: undefined });
      onChange(parsed);
    } catch (error) {
      setTypedText({ text: typed, error: faultPlace(typed) ?? (error as Error).message });
    }
  };
  return (
    <section className={layout['card']}>
      <h2>JSON</h2>
      <Suspense fallback={<Loading />}>
        <JsonEditor label="JSON" text={text} onChange={edit} />
      </Suspense>
      {typedText?.error !== undefined && (
        <Notice tone="warning">The form keeps the last strategy that was valid. {typedText.error}</Notice>
      )}
    </section>
  );
}
