import { isEqual } from '@bunting/contracts';
import { lazy, Suspense, useState } from 'react';
import { Notice } from '../../../components/content/notice.tsx';
import { Loading } from '../../../components/content/query-result.tsx';
import { strategyMessages } from '../../../messages/strategy.ts';
import { parseStrategyDraft, type StrategyDraft } from '../../../strategies/strategy-draft.ts';
import type { StrategyPartProps } from '../strategy-part-props.ts';
import layout from '../../../components/layout/layout.module.css';

const JsonEditor = lazy(() =>
  import('./json-editor.tsx').then(({ JsonEditor: component }) => ({ default: component })),
);

/** Whether a text describes the draft, in whatever layout. */
const isTextOf = (text: string, draft: StrategyDraft): boolean => {
  try {
    return isEqual(parseStrategyDraft(text), draft);
  } catch {
    return false;
  }
};

/** The strategy as JSON beside the form. What is no strategy stays here until it is one. */
export const JsonSection = ({ draft, onChange }: StrategyPartProps) => {
  const [own, setOwn] = useState<{ readonly text: string; readonly error: string | undefined }>();
  const isOwn = own !== undefined && (own.error !== undefined || isTextOf(own.text, draft));
  const text = isOwn ? own.text : JSON.stringify(draft, null, 2);
  const edit = (typed: string): void => {
    if (typed === text) return;
    try {
      const parsed = parseStrategyDraft(typed);
      setOwn({ text: typed, error: undefined });
      onChange(parsed);
    } catch (error) {
      setOwn({ text: typed, error: (error as Error).message });
    }
  };
  return (
    <section className={layout['card']}>
      <h2>{strategyMessages.json}</h2>
      <Suspense fallback={<Loading />}>
        <JsonEditor label={strategyMessages.json} text={text} onChange={edit} />
      </Suspense>
      {own?.error !== undefined && <Notice tone="warning">{strategyMessages.badJson(own.error)}</Notice>}
    </section>
  );
};
