import { Fragment } from 'react';
import { summaryInWords } from '../../text/event-words.ts';
import { PersonName } from './person-name.tsx';
import { Time } from './time.tsx';

const markdownLink = /\[((?:\\.|[^\]\\])*)\]\([^)]*\)/g;
const emphasisPattern = /\*\*(.+?)\*\*|\*(.+?)\*/g;
function removeEscapes(text: string): string {
  return text.replace(/\\([\\`*_{}[\]()#+\-.!<>|~])/g, '$1');
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

interface EventSummaryProps {
  readonly text: string;
  /** the event or notification: the text begins with who caused it */
  readonly by: { readonly createdBy: string | null; readonly createdByUserId?: number | null };
  readonly subject?: string | undefined;
}

/**
 * The Markdown summary of an event: who caused it is shown by name, emphasis in bold, a link as its text, an instant in the time zone of the reader, and all other
 * markup as plain text.
 */
export function EventSummary({ text, by, subject }: EventSummaryProps) {
  const parts: React.ReactNode[] = [];
  const line = summaryInWords(text, subject).replace(markdownLink, '$1');
  let end = 0;
  for (const match of line.matchAll(emphasisPattern)) {
    parts.push(removeEscapes(line.slice(end, match.index)));
    const emphasised = removeEscapes(match[1] ?? match[2] ?? '');
    const isCause = match.index === 0 && emphasised === by.createdBy;
    parts.push(
      <strong>
        {isCause ? (
          <PersonName id={by.createdByUserId} login={emphasised} />
        ) : instant.test(emphasised) ? (
          <Time at={emphasised} isAbsolute />
        ) : (
          emphasised
        )}
      </strong>,
    );
    end = match.index + match[0].length;
  }
  parts.push(removeEscapes(line.slice(end)));
  return (
    <span dir="auto">
      {parts.map((part, index) => (
        <Fragment key={index}>{part}</Fragment>
      ))}
    </span>
  );
}
