import { Fragment } from 'react';
import { summaryInWords } from '../../text/event-words.ts';
import { Time } from './time.tsx';

const markdownLink = /\[((?:\\.|[^\]\\])*)\]\([^)]*\)/g;
const emphasisPattern = /\*\*(.+?)\*\*|\*(.+?)\*/g;
function removeEscapes(text: string): string {
  return text.replace(/\\([\\`*_{}[\]()#+\-.!<>|~])/g, '$1');
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/**
 * The Markdown summary of an event: emphasis is shown in bold, a link as its text, an instant in the time zone of the reader, and all other
 * markup as plain text.
 */
export function EventSummary({ text, subject }: { readonly text: string; readonly subject?: string | undefined }) {
  const parts: React.ReactNode[] = [];
  const line = summaryInWords(text, subject).replace(markdownLink, '$1');
  let end = 0;
  for (const match of line.matchAll(emphasisPattern)) {
    parts.push(removeEscapes(line.slice(end, match.index)));
    const emphasised = removeEscapes(match[1] ?? match[2] ?? '');
    parts.push(<strong>{instant.test(emphasised) ? <Time at={emphasised} isAbsolute /> : emphasised}</strong>);
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
