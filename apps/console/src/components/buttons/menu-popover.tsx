import type { RefObject } from 'react';
import { Menu, MenuItem, Popover } from 'react-aria-components';
import { Icon, type IconName } from '../content/icon.tsx';
import { FocusReturn } from '../dialogs/focus-return.tsx';
import type { MenuEntry } from './menu.tsx';
import styles from '../forms/field.module.css';

interface MenuPopoverProps {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly trigger: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

/** The icons of what takes something away. */
const removing: ReadonlySet<IconName | undefined> = new Set(['archive', 'close', 'remove']);

/**
 * The list of actions of a menu while it is open: a module of its own, which is loaded when a menu is first opened.
 * What takes something away is the last, apart from what is pressed more often.
 */
export function MenuPopover({ label, entries, trigger, onClose }: MenuPopoverProps) {
  const sorted = entries.toSorted((one, other) => +removing.has(one.icon) - +removing.has(other.icon));
  const hasIcons = entries.some(({ icon }) => icon !== undefined);
  return (
    <Popover
      isOpen
      triggerRef={trigger}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      placement="bottom start"
      aria-label={label}
      className={`${styles['popover']} ${styles['menu']}`}
    >
      <FocusReturn />
      <Menu aria-label={label} autoFocus="first" onClose={onClose}>
        {sorted.map(({ id, label: text, icon, isDisabled = false, run }) => (
          <MenuItem
            key={id}
            id={id}
            textValue={text}
            isDisabled={isDisabled}
            onAction={() => {
              onClose();
              run();
            }}
            className={`${styles['option']} ${removing.has(icon) ? styles['removing'] : ''}`}
          >
            {icon === undefined ? hasIcons && <span className={styles['noIcon']} /> : <Icon name={icon} />}
            {text}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}
