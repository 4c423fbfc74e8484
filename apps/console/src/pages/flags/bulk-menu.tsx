import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import type { BulkAction } from '../../changes/bulk-action.ts';

interface BulkMenuProps {
  readonly environments: readonly string[];
  readonly onChoose: (action: BulkAction) => void;
}

/** The menus from which the user chooses an action on all selected flags. */
export const BulkMenu = ({ environments, onChoose }: BulkMenuProps) => (
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
