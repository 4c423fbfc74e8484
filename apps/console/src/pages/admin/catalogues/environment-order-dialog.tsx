import { type EnvironmentDescription, SetEnvironmentOrder } from '@bunting/contracts';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { IconButton } from '../../../components/buttons/button.tsx';
import { Icon } from '../../../components/content/icon.tsx';
import { EnvironmentName } from '../../../components/environments/environment-name.tsx';
import styles from '../admin.module.css';

interface EnvironmentOrderDialogProps {
  readonly environments: readonly EnvironmentDescription[];
  readonly onClose: () => void;
}

/** Changes the order of the environments, by drag, by keyboard or by buttons. The new order is saved with one request. */
export function EnvironmentOrderDialog({ environments, onClose }: EnvironmentOrderDialogProps) {
  const [names, setNames] = useState<readonly string[]>(environments.map(({ name }) => name));
  const [dragged, setDragged] = useState<string>();
  const [announced, setAnnounced] = useState('');
  const list = useRef<HTMLOListElement>(null);

  const moveTo = (name: string, index: number): void => {
    if (index < 0 || index >= names.length || index === names.indexOf(name)) return;
    // At once: the handle keeps the focus, and the next key or step of the pointer finds the new order.
    flushSync(() => {
      setNames(names.filter((other) => other !== name).toSpliced(index, 0, name));
      setAnnounced(`${name} is ${index + 1} of ${names.length}.`);
    });
    // A button at the end of the list cannot be pressed again, and gives the focus to the handle of its row.
    if (document.activeElement?.matches('body, :disabled') === true)
      list.current?.children[index]?.querySelector<HTMLElement>('[data-handle]')?.focus();
  };
  const onKeyDown = (event: React.KeyboardEvent, name: string): void => {
    const index = names.indexOf(name);
    const target = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: names.length - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    moveTo(name, target);
  };
  const onPointerMove = (event: React.PointerEvent): void => {
    if (dragged === undefined) return;
    const rows = [...(list.current?.children ?? [])].map((row) => row.getBoundingClientRect());
    const below = rows.findIndex(({ bottom }) => event.clientY < bottom);
    moveTo(dragged, below < 0 ? names.length - 1 : below);
  };
  const drop = (): void => setDragged(undefined);

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
        Pages, clients and exports list environments in this order. Drag a row by its handle, or move it with the arrow
        keys, Home and End; the buttons move a row by one.
      </p>
      <p role="status" className="visually-hidden">
        {announced}
      </p>
      <ol
        ref={list}
        aria-label="Order of the environments"
        className={styles['order']}
        onPointerMove={onPointerMove}
        onPointerUp={drop}
        onPointerCancel={drop}
      >
        {names.map((name, index) => (
          <li key={name} data-dragging={dragged === name || undefined} className={styles['orderItem']}>
            <button
              type="button"
              data-handle
              aria-label={`Move ${name} with the arrow keys`}
              className={styles['handle']}
              onKeyDown={(event) => onKeyDown(event, name)}
              onPointerDown={(event) => {
                // The list stays where it is while its rows move.
                list.current?.setPointerCapture(event.pointerId);
                setDragged(name);
              }}
            >
              <Icon name="menu" />
            </button>
            <span className={styles['grow']}>
              <EnvironmentName name={name} />
            </span>
            <IconButton
              icon="arrowUp"
              size="small"
              label={`Move ${name} up`}
              isDisabled={index === 0}
              onPress={() => moveTo(name, index - 1)}
            />
            <IconButton
              icon="arrowDown"
              size="small"
              label={`Move ${name} down`}
              isDisabled={index === names.length - 1}
              onPress={() => moveTo(name, index + 1)}
            />
          </li>
        ))}
      </ol>
    </ConfirmOperationDialog>
  );
}
