import { Fragment } from 'react';
import { summaryInWords } from '../../text/event-words.ts';

const markdownLink = /\[((?:\\.|[^\]\\])*)\]\([^)]*\)/g;
const emphasisPattern = /\*\*(.+?)\*\*|\*(.+?)\*/g;
function removeEscapes(text: string): string {
  return text.replace(/\\([\\`*_{}[\]()#+\-.!<>|~])/g, '$1');
}

/** The Markdown summary of an event: emphasis is shown in bold, a link as its text, and all other markup as plain text. */
export function EventSummary({ text, subject }: { readonly text: string; readonly subject?: string | undefined }) {
  const parts: React.ReactNode[] = [];
  const line = summaryInWords(text, subject).replace(markdownLink, '$1');
  let end = 0;
  for (const match of line.matchAll(emphasisPattern)) {
    parts.push(removeEscapes(line.slice(end, match.index)));
    parts.push(<strong>{removeEscapes(match[1] ?? match[2] ?? '')}</strong>);
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
