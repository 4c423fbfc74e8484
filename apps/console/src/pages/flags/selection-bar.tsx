import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import layout from '../../components/layout/layout.module.css';
import { formatCount } from '../../text/format-number.ts';
import type { BulkAction } from './bulk-action.ts';

/** The selected flags: some by name, or all that match the filter except some. A filter that forgives typing errors selects by name only. */
export type FlagSelection =
  | { readonly kind: 'some'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'all'; readonly except: ReadonlySet<string> };

export const emptySelection: FlagSelection = { kind: 'some', names: new Set() };
export const fullSelection: FlagSelection = { kind: 'all', except: new Set() };

export function isSelected(selection: FlagSelection, name: string): boolean {
  return selection.kind === 'all' ? !selection.except.has(name) : selection.names.has(name);
}

/** Selects or deselects flags. */
export function withSelected(selection: FlagSelection, names: readonly string[], selected: boolean): FlagSelection {
  const changed = new Set(selection.kind === 'all' ? selection.except : selection.names);
  const addsNames = selection.kind === 'all' ? !selected : selected;
  for (const name of names) {
    if (addsNames) changed.add(name);
    else changed.delete(name);
  }
  return selection.kind === 'all' ? { kind: 'all', except: changed } : { kind: 'some', names: changed };
}

/** The number of selected flags. @param total the number of flags that match the filter */
export function selectedCountOf(selection: FlagSelection, total: number): number {
  return selection.kind === 'all' ? Math.max(0, total - selection.except.size) : selection.names.size;
}

interface SelectionBarProps {
  readonly selection: FlagSelection;
  /** the number of flags that match the filter; undefined until it is loaded */
  readonly total: number | undefined;
  /** how many of them are not only similar to the words of the filter; undefined if it is not known */
  readonly exactTotal: number | undefined;
  readonly onSelectAll: () => void;
  readonly onSelectNone: () => void;
  /** actions on the selected flags */
  readonly children: React.ReactNode;
}

/** The line above a list of flags: the number of matching or selected flags, and the actions on the selected ones. */
export function SelectionBar({ selection, total, exactTotal, onSelectAll, onSelectNone, children }: SelectionBarProps) {
  const selected = selectedCountOf(selection, total ?? 0);
  return (
    <div className={layout['status']}>
      {selected > 0 ? (
        <>
          <strong>{formatCount(selected, 'flag')} selected</strong>
          {selection.kind === 'some' && total !== undefined && selected < (exactTotal ?? total) && (
            <Button size="small" variant="quiet" onPress={onSelectAll}>
              Select all {exactTotal === undefined ? 'flags' : formatCount(exactTotal, 'flag')} that match
            </Button>
          )}
          <Button size="small" variant="quiet" onPress={onSelectNone}>
            Select none
          </Button>
          {children}
        </>
      ) : (
        <span role="status">{total === undefined ? '' : formatCount(total, 'flag')}</span>
      )}
    </div>
  );
}

interface BulkMenuProps {
  readonly environments: readonly string[];
  readonly onChoose: (action: BulkAction) => void;
}

/** The menus from which the user chooses an action on all selected flags. */
export function BulkMenu({ environments, onChoose }: BulkMenuProps) {
  return (
    <>
      {[true, false].map((enabled) => (
        <Menu
          key={String(enabled)}
          label={enabled ? 'Turn on' : 'Turn off'}
          entries={environments.map((environment) => ({
            id: environment,
            label: `in ${environment}`,
            run: () => onChoose({ kind: 'switch', environment, enabled }),
          }))}
        >
          <Button size="small">{enabled ? 'Turn on' : 'Turn off'}</Button>
        </Menu>
      ))}
      <Menu
        label="More actions"
        entries={[
          {
            id: 'tag',
            label: 'Add a tag…',
            run: () => onChoose({ kind: 'tag', tag: { type: '', value: '' }, isAdded: true }),
          },
          {
            id: 'untag',
            label: 'Remove a tag…',
            run: () => onChoose({ kind: 'tag', tag: { type: '', value: '' }, isAdded: false }),
          },
          { id: 'stale', label: 'Mark as stale…', run: () => onChoose({ kind: 'stale', stale: true }) },
          { id: 'active', label: 'Mark as not stale…', run: () => onChoose({ kind: 'stale', stale: false }) },
          { id: 'archive', label: 'Archive…', icon: 'archive', run: () => onChoose({ kind: 'archive' }) },
        ]}
      >
        <IconButton size="small" icon="more" variant="secondary" label="More actions" />
      </Menu>
    </>
  );
}
