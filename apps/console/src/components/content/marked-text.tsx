import type { MatchedParts } from '@bunting/contracts';

interface MarkedTextProps {
  readonly text: string;
  /** the parts to mark, in their order and without overlaps */
  readonly parts: MatchedParts;
}

/** A text of which the parts that match a search are marked. */
export function MarkedText({ text, parts }: MarkedTextProps) {
  return (
    <bdi>
      {parts.map(({ start, end }, nth) => (
        <span key={start}>
          {text.slice(parts[nth - 1]?.end ?? 0, start)}
          <mark>{text.slice(start, end)}</mark>
        </span>
      ))}
      {text.slice(parts.at(-1)?.end ?? 0)}
    </bdi>
  );
}
