import { useSegmentSummaries } from '../../api/queries-and-mutations.ts';
import { Checkbox } from '../../components/forms/fields.tsx';
import { ComboBox } from '../../components/forms/selects.tsx';
import type { StrategyPartProps } from './use-strategy-edit.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './strategy.module.css';

/** The segments of a strategy, all of which must match. Those of other projects are not offered. */
export function SegmentPicker({ project, draft, onChange }: StrategyPartProps & { readonly project: string }) {
  const { data } = useSegmentSummaries();
  const segments = data?.segments ?? [];
  const chosenIds = draft.segments;
  const offered = segments.filter(
    (segment) => (segment.project ?? project) === project && !chosenIds.includes(segment.id),
  );
  const nameOf = (id: number): string => segments.find((segment) => segment.id === id)?.name ?? `${id}`;
  return (
    <section className={layout['card']} aria-labelledby="segments">
      <h2 id="segments">Segments</h2>
      {offered.length > 0 && (
        <ComboBox
          key={chosenIds.join()}
          label="Add a segment"
          options={offered.map(({ id, name, description }) => ({
            id: String(id),
            label: name,
            description: description ?? undefined,
          }))}
          value={null}
          onChange={(id) => onChange({ ...draft, segments: [...chosenIds, Number(id)] })}
        />
      )}
      {segments.length === 0 && (
        <p className={layout['small']}>
          There are no segments yet. A segment is a named set of constraints for many flags.
        </p>
      )}
      <div className={styles['options']}>
        {chosenIds.map((id) => (
          <Checkbox
            key={id}
            isSelected
            onChange={() => onChange({ ...draft, segments: chosenIds.filter((other) => other !== id) })}
          >
            {nameOf(id)}
          </Checkbox>
        ))}
      </div>
    </section>
  );
}
