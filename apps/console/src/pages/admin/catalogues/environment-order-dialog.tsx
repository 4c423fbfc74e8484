import { type EnvironmentDescription, SetEnvironmentOrder } from '@bunting/contracts';
import { useState } from 'react';
import { Button, GridList, GridListItem, useDragAndDrop } from 'react-aria-components';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { IconButton } from '../../../components/buttons/button.tsx';
import { Icon } from '../../../components/content/icon.tsx';
import { moveItem } from '../move-item.ts';
import styles from '../admin.module.css';

interface EnvironmentOrderDialogProps {
  readonly environments: readonly EnvironmentDescription[];
  readonly onClose: () => void;
}

/** Changes the order of the environments, by drag, by keyboard or by buttons. The new order is saved with one request. */
export function EnvironmentOrderDialog({ environments, onClose }: EnvironmentOrderDialogProps) {
  const [names, setNames] = useState<readonly string[]>(environments.map(({ name }) => name));
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder: ({ keys, target: { key, dropPosition } }) => {
      const [item = ''] = [...keys].map(String);
      setNames(moveItem(names, item, dropPosition === 'before' ? 'before' : 'after', String(key)));
    },
  });
  return (
    <ConfirmOperationDialog
      title="Order of the environments"
      confirm="Save"
      operation={SetEnvironmentOrder}
      request={{ body: Object.fromEntries(names.map((name, index) => [name, index + 1])) }}
      notification="The order is saved."
      onClose={onClose}
    >
      <p>
        Pages, clients and exports list environments in this order. Drag a row by its handle, or press Enter on the
        handle and move with the arrow keys; the buttons move a row by one.
      </p>
      <GridList
        aria-label="Order of the environments"
        items={names.map((id) => ({ id }))}
        dependencies={[names]}
        dragAndDropHooks={dragAndDropHooks}
        className={styles['order'] ?? ''}
      >
        {({ id }) => {
          const index = names.indexOf(id);
          const [previous, next] = [names[index - 1], names[index + 1]];
          return (
            <GridListItem id={id} textValue={id} className={styles['orderItem'] ?? ''}>
              <Button slot="drag" aria-label={`Drag ${id}`} className={styles['handle'] ?? ''}>
                <Icon name="menu" />
              </Button>
              <span className={styles['grow']}>{id}</span>
              <IconButton
                icon="arrowUp"
                size="small"
                label={`Move ${id} up`}
                isDisabled={previous === undefined}
                onPress={() => previous !== undefined && setNames(moveItem(names, id, 'before', previous))}
              />
              <IconButton
                icon="arrowDown"
                size="small"
                label={`Move ${id} down`}
                isDisabled={next === undefined}
                onPress={() => next !== undefined && setNames(moveItem(names, id, 'after', next))}
              />
            </GridListItem>
          );
        }}
      </GridList>
    </ConfirmOperationDialog>
  );
}
