import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import { flagsMessages as text } from '../../messages/flags.ts';
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
        label={enabled ? text.turnOn : text.turnOff}
        entries={environments.map((environment) => ({
          id: environment,
          label: text.inEnvironmentOption(environment),
          run: () => onChoose({ kind: 'switch', environment, enabled }),
        }))}
      >
        <Button size="small">{enabled ? text.turnOn : text.turnOff}</Button>
      </Menu>
    ))}
    <Menu
      label={text.moreActions}
      entries={[
        {
          id: 'tag',
          label: text.addTag,
          run: () => onChoose({ kind: 'tag', tag: { type: '', value: '' }, isAdded: true }),
        },
        {
          id: 'untag',
          label: text.removeTag,
          run: () => onChoose({ kind: 'tag', tag: { type: '', value: '' }, isAdded: false }),
        },
        { id: 'stale', label: text.markStale, run: () => onChoose({ kind: 'stale', stale: true }) },
        { id: 'active', label: text.markActive, run: () => onChoose({ kind: 'stale', stale: false }) },
        { id: 'archive', label: text.archive, icon: 'archive', run: () => onChoose({ kind: 'archive' }) },
      ]}
    >
      <IconButton size="small" icon="more" variant="secondary" label={text.moreActions} />
    </Menu>
  </>
);
