import { Fragment } from 'react';

const link = /\[((?:\\.|[^\]\\])*)\]\([^)]*\)/g;
const bold = /\*\*(.+?)\*\*|\*(.+?)\*/g;
const removeEscapes = (text: string): string => text.replace(/\\([\\`*_{}[\]()#+\-.!<>|~])/g, '$1');

/** The summary of an event: its Markdown with bold text as such, links as their texts, and all else as plain text. */
export const EventSummary = ({ text }: { readonly text: string }) => {
  const parts: React.ReactNode[] = [];
  const line = text.replace(link, '$1');
  let end = 0;
  for (const match of line.matchAll(bold)) {
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
};
