import { type MatchedParts, SuggestFeatures } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { useMayAdministrate, useMaySomewhere } from '../api/permissions.ts';
import { operationQuery, useProjects } from '../api/queries-and-mutations.ts';
import { useSettled } from '../filtering/use-settled.ts';
import { useStore } from '../store.ts';
import { MarkedText } from '../components/content/marked-text.tsx';
import dialogStyles from '../components/dialogs/dialog.module.css';
import { FocusReturn } from '../components/dialogs/focus-return.tsx';
import { registeredPageActions } from './page-actions.ts';
import { navigationPages } from './navigation.ts';
import styles from './shell.module.css';
import { formatCount } from '../text/format-number.ts';

interface Entry {
  readonly id: string;
  readonly section: string;
  readonly label: string;
  /** the parts of the label that match the text */
  readonly matches?: MatchedParts;
  readonly description?: string | undefined;
  readonly key?: string | undefined;
  readonly run: () => void;
}

/** Whether every word occurs in the label, so that words may be shortened and swapped. */
function matchesWords(label: string, words: readonly string[]): boolean {
  return words.every((word) => label.toLowerCase().includes(word));
}

/** So many projects are shown at most: of more, one types more of the name. */
const maxProjects = 8;

/** Suggestions are for texts of at most so many characters. */
const maxLength = 100;

/** The entries that match the text: flags (found by the server), projects, pages, and actions of the page and dialogs on the screen. */
function useEntries(text: string): { readonly entries: readonly Entry[]; readonly isSearching: boolean } {
  const navigate = useNavigate();
  const knownProjects = useProjects().data?.projects ?? [];
  const actions = useStore(registeredPageActions).flat();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const typed = text.trim().slice(0, maxLength);
  const settled = useSettled(typed);
  const { data, isFetching } = useQuery({
    ...operationQuery(SuggestFeatures, { query: { query: settled } }),
    enabled: settled !== '',
  });
  // Enter opens the first entry: flags that an earlier text found are none.
  const suggestions = typed === settled && typed !== '' ? (data?.suggestions ?? []) : [];
  const flags = suggestions.map(({ name, project, isExact, matches }) => ({
    id: `flag ${name}`,
    section: isExact ? 'Flags' : 'Similar flags',
    label: name,
    matches,
    description: knownProjects.find(({ id }) => id === project)?.name ?? project,
    run: () => void navigate({ href: `/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(name)}` }),
  }));
  const projects = (words.length === 0 ? [] : knownProjects)
    .filter(({ id, name }) => matchesWords(`${name} ${id}`, words))
    .toSorted((one, other) => Number(other.favorite ?? false) - Number(one.favorite ?? false))
    .slice(0, maxProjects)
    .map(({ id, name }) => ({
      id: `project ${id}`,
      section: 'Projects',
      label: name,
      description: name === id ? undefined : id,
      run: () => void navigate({ to: '/projects/$project/flags', params: { project: id } }),
    }));
  // The list of administration pages is in a chunk of its own, so that it does not add to the first load.
  const { data: adminPages = [] } = useQuery({
    queryKey: ['adminPages'],
    queryFn: async () => (await import('../pages/admin/admin-pages.ts')).adminPages,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const mayAdministrate = useMayAdministrate();
  const maySomewhere = useMaySomewhere();
  const offeredAdminPages = adminPages.filter(({ readers }) => maySomewhere(readers));
  const pages = [...navigationPages, ...offeredAdminPages.map(({ id, label }) => ({ label, to: `/admin/${id}` }))]
    .filter(({ to, label }) => (mayAdministrate || !to.startsWith('/admin')) && matchesWords(label, words))
    .map(({ label, to }) => ({
      id: `page ${to}`,
      section: 'Pages',
      label,
      run: () => void navigate({ href: to }),
    }));
  const actionEntries = actions
    .filter(({ isShortcutOnly = false, title }) => !isShortcutOnly && matchesWords(title, words))
    .map(({ id, title, key, run }) => ({
      id: `action ${id}`,
      section: 'Actions',
      label: title,
      key,
      run,
    }));
  const isSearching = typed !== '' && (typed !== settled || isFetching);
  const exact = flags.filter(({ section }) => section === 'Flags');
  const similar = flags.slice(exact.length);
  return { entries: [...exact, ...projects, ...similar, ...pages, ...actionEntries], isSearching };
}

function PaletteBody({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [selectedIndex, setSelectedIndex] = useState(0);
  const { entries, isSearching } = useEntries(text);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const activeIndex = Math.min(selectedIndex, entries.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [activeIndex, entries.length]);
  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const move = (step: number): void =>
    setSelectedIndex((activeIndex + step + entries.length) % Math.max(1, entries.length));
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter') run(entries[activeIndex]);
    else return;
    event.preventDefault();
  };
  const optionId = (index: number): string => `${listId}-${index}`;
  return (
    <>
      <input
        className={styles['paletteInput']}
        role="combobox"
        aria-label="Search"
        aria-expanded={entries.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        {...(activeIndex >= 0 ? { 'aria-activedescendant': optionId(activeIndex) } : {})}
        placeholder="Flags, projects, pages and actions"
        value={text}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        onChange={({ target }) => {
          setText(target.value);
          setSelectedIndex(0);
        }}
        onKeyDown={onKeyDown}
      />
      <p role="status" className="visually-hidden">
        {isSearching ? '' : formatCount(entries.length, 'result')}
      </p>
      {entries.length === 0 && !isSearching && (
        <p className={styles['paletteNone']}>Nothing matches. Try fewer letters.</p>
      )}
      <div id={listId} ref={list} role="listbox" aria-label="Search" tabIndex={-1} className={styles['paletteList']}>
        {entries.map((entry, index) => (
          <div key={entry.id} role="presentation">
            {entry.section !== entries[index - 1]?.section && (
              <div role="presentation" className={styles['paletteHeader']}>
                {entry.section}
              </div>
            )}
            {/* The focus stays in the input, as the ARIA pattern of a combobox requires. */}
            <div
              id={optionId(index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === activeIndex}
              className={styles['paletteItem']}
              onClick={() => run(entry)}
              onKeyDown={onKeyDown}
              onMouseMove={() => setSelectedIndex(index)}
            >
              <span>
                <MarkedText text={entry.label} parts={entry.matches ?? []} />
              </span>
              {entry.description !== undefined && (
                <span className={styles['paletteDescription']}>{entry.description}</span>
              )}
              {entry.key !== undefined && <kbd className={styles['kbd']}>{entry.key}</kbd>}
            </div>
          </div>
        ))}
      </div>
    </>
  );
}

/** Finds flags, projects, pages and the actions of what is on the screen, while the user types. */
export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className={dialogStyles['backdrop'] ?? ''}
    >
      <Modal className={dialogStyles['modal'] ?? ''}>
        <Dialog aria-label="Search" className={dialogStyles['dialog'] ?? ''}>
          <FocusReturn />
          <PaletteBody onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
