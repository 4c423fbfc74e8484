import type { Permission } from '@bunting/contracts';
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

/** The permission that an action takes where it is not proposed. */
export function permissionOf({ kind }: BulkAction): Permission {
  if (kind === 'switch') return 'UPDATE_FEATURE_ENVIRONMENT';
  return kind === 'archive' ? 'DELETE_FEATURE' : 'UPDATE_FEATURE';
}

interface BulkMenuProps {
  readonly environments: readonly string[];
  /** whether the user may take an action on some of the flags */
  readonly may: (action: BulkAction) => boolean;
  readonly onChoose: (action: BulkAction) => void;
}

const noTag = { type: '', value: '' };

/** The menus from which the user chooses an action on all selected flags. */
export function BulkMenu({ environments, may, onChoose }: BulkMenuProps) {
  const actions: readonly (readonly [id: string, label: string, action: BulkAction])[] = [
    ['tag', 'Add a tag…', { kind: 'tag', tag: noTag, isAdded: true }],
    ['untag', 'Remove a tag…', { kind: 'tag', tag: noTag, isAdded: false }],
    ['stale', 'Mark as stale…', { kind: 'stale', stale: true }],
    ['active', 'Mark as not stale…', { kind: 'stale', stale: false }],
    ['archive', 'Archive…', { kind: 'archive' }],
  ];
  const offered = actions.filter(([, , action]) => may(action));
  return (
    <>
      {[true, false].map((enabled) => {
        const entries = environments
          .map((environment) => ({ kind: 'switch', environment, enabled }) as const)
          .filter(may)
          .map((action) => ({
            id: action.environment,
            label: `in ${action.environment}`,
            run: () => onChoose(action),
          }));
        const label = enabled ? 'Turn on' : 'Turn off';
        return (
          entries.length > 0 && (
            <Menu key={label} label={label} entries={entries}>
              <Button size="small">{label}</Button>
            </Menu>
          )
        );
      })}
      {offered.length > 0 && (
        <Menu
          label="More actions"
          entries={offered.map(([id, label, action]) => ({
            id,
            label,
            ...(id === 'archive' && { icon: 'archive' as const }),
            run: () => onChoose(action),
          }))}
        >
          <IconButton size="small" icon="more" variant="secondary" label="More actions" />
        </Menu>
      )}
    </>
  );
}
