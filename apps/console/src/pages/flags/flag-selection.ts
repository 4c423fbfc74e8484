/** The selected flags: some by name, or all that match the filter except some. */
export type FlagSelection =
  | { readonly kind: 'some'; readonly names: ReadonlySet<string> }
  | { readonly kind: 'all'; readonly except: ReadonlySet<string> };

export const emptySelection: FlagSelection = { kind: 'some', names: new Set() };
export const fullSelection: FlagSelection = { kind: 'all', except: new Set() };

export const isSelected = (selection: FlagSelection, name: string): boolean =>
  selection.kind === 'all' ? !selection.except.has(name) : selection.names.has(name);

/** Selects or deselects flags. */
export const withSelected = (selection: FlagSelection, names: readonly string[], selected: boolean): FlagSelection => {
  const changed = new Set(selection.kind === 'all' ? selection.except : selection.names);
  const addsNames = selection.kind === 'all' ? !selected : selected;
  for (const name of names) {
    if (addsNames) changed.add(name);
    else changed.delete(name);
  }
  return selection.kind === 'all' ? { kind: 'all', except: changed } : { kind: 'some', names: changed };
};

/** The number of selected flags. @param total the number of flags that match the filter */
export const selectedCountOf = (selection: FlagSelection, total: number): number =>
  selection.kind === 'all' ? Math.max(0, total - selection.except.size) : selection.names.size;
