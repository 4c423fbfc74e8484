import { Button } from '../../components/buttons/button.tsx';
import layout from '../../components/layout/layout.module.css';
import { selectedCountOf, emptySelection, fullSelection, type FlagSelection } from './flag-selection.ts';
import { formatCount } from '../../text/format-number.ts';

interface SelectionBarProps {
  readonly selection: FlagSelection;
  /** the number of flags that match the filter; undefined until it is loaded */
  readonly total: number | undefined;
  readonly onChange: (selection: FlagSelection) => void;
  /** actions on the selected flags */
  readonly children: React.ReactNode;
}

/** The line above a list of flags: the number of matching or selected flags, and the actions on the selected ones. */
export const SelectionBar = ({ selection, total, onChange, children }: SelectionBarProps) => {
  const selected = selectedCountOf(selection, total ?? 0);
  return (
    <div className={layout['status']}>
      {selected > 0 ? (
        <>
          <strong>{formatCount(selected, 'flag')} selected</strong>
          {selection.kind === 'some' && total !== undefined && selected < total && (
            <Button size="small" variant="quiet" onPress={() => onChange(fullSelection)}>
              Select all {formatCount(total, 'flag')} that match
            </Button>
          )}
          <Button size="small" variant="quiet" onPress={() => onChange(emptySelection)}>
            Select none
          </Button>
          {children}
        </>
      ) : (
        <span role="status">{total === undefined ? '' : formatCount(total, 'flag')}</span>
      )}
    </div>
  );
};
