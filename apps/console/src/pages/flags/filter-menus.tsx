import { memo, Suspense, useState } from 'react';
import { Button } from '../../components/buttons/button.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import { keepText, keptText } from '../../store.ts';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const SaveViewDialog = lazyPart(() => import('./save-view-dialog.tsx').then(({ SaveViewDialog }) => SaveViewDialog));

const filterLabels = {
  type: 'Type',
  tag: 'Tag',
  state: 'Stale or not',
  stage: 'Stage of its life',
  segment: 'Segment',
  owner: 'Created by',
  created: 'Created',
  seen: 'Last seen',
  favourite: 'Favourites',
  archived: 'Archived',
} as const;

interface FilterMenuProps {
  readonly environments: readonly { readonly name: string }[];
  readonly hasProjects: boolean;
  /** Begins a part of the filter, such as `type:`. */
  readonly onChoose: (part: string) => void;
}

/** What flags can be filtered by, in words: each choice begins a part of the text of the filter. */
export const FilterMenu = memo(({ environments, hasProjects, onChoose }: FilterMenuProps) => {
  const choices = [
    ...Object.entries(filterLabels),
    ...(hasProjects ? [['project', 'Project'] as const] : []),
    ...environments.map(({ name }) => [name, `On, off or partly on in ${name}`] as const),
  ];
  return (
    <Menu
      label="Filter by"
      entries={choices.map(([key, label]) => ({ id: key, label, run: () => onChoose(`${key}:`) }))}
    >
      <Button icon="add">Filter</Button>
    </Menu>
  );
});
FilterMenu.displayName = 'FilterMenu';

interface View {
  readonly name: string;
  readonly q: string;
  readonly sort: string;
}

/** Where this browser keeps the views of a project, or of all projects. */
function storageKey(project: string | undefined): string {
  return `bunting.views.${project ?? ''}`;
}

function readViews(project: string | undefined): readonly View[] {
  try {
    const stored: unknown = JSON.parse(keptText(storageKey(project)) ?? '[]');
    return (Array.isArray(stored) ? (stored as readonly Partial<View>[]) : []).flatMap(({ name, q = '', sort = '' }) =>
      typeof name === 'string' ? [{ name, q: String(q), sort: String(sort) }] : [],
    );
  } catch {
    // Another program has written there.
    return [];
  }
}

interface ViewsMenuProps {
  readonly project: string | undefined;
  /** the filter that is shown */
  readonly q: string;
  /** the order that is shown */
  readonly sort: string;
  readonly onOpen: (view: Omit<View, 'name'>) => void;
}

/** The filters that the person has saved under a name in this browser, for the project or for all projects. */
export const ViewsMenu = memo(({ project, q, sort, onOpen }: ViewsMenuProps) => {
  const [views, setViews] = useState(() => readViews(project));
  const [isSaving, setSaving] = useState(false);
  const keep = (changed: readonly View[]): void => {
    setViews(changed);
    keepText(storageKey(project), JSON.stringify(changed));
  };
  const current = views.find((view) => view.q === q && view.sort === sort);
  return (
    <>
      <Menu
        label="Views"
        entries={[
          ...views.map((view) => ({
            id: `view ${view.name}`,
            label: view.name,
            ...(view === current && { icon: 'check' as const }),
            run: () => onOpen(view),
          })),
          current === undefined
            ? {
                id: 'save',
                label: 'Save this view…',
                icon: 'add' as const,
                isDisabled: q === '' && sort === '',
                run: () => setSaving(true),
              }
            : {
                id: 'remove',
                label: `Remove the view “${current.name}”`,
                icon: 'remove' as const,
                run: () => keep(views.filter((view) => view !== current)),
              },
        ]}
      >
        <Button>{current?.name ?? 'Views'}</Button>
      </Menu>
      <Suspense>
        {isSaving && (
          <SaveViewDialog
            onSave={(name) => keep([...views.filter((view) => view.name !== name), { name, q, sort }])}
            onClose={() => setSaving(false)}
          />
        )}
      </Suspense>
    </>
  );
});
ViewsMenu.displayName = 'ViewsMenu';
