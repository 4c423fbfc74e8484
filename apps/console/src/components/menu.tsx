import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Icon, type IconName } from './icon.tsx';
import styles from './field.module.css';

export interface MenuEntry {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly isDisabled?: boolean;
  readonly run: () => void;
}

/** A button (the child) that opens a menu of actions. */
export const Menu = ({
  label,
  entries,
  children,
}: {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly children: React.ReactNode;
}) => (
  <MenuTrigger>
    {children}
    <Popover className={styles['popover'] ?? ''}>
      <AriaMenu aria-label={label}>
        {entries.map(({ id, label: text, icon, isDisabled = false, run }) => (
          <MenuItem
            key={id}
            id={id}
            textValue={text}
            isDisabled={isDisabled}
            onAction={run}
            className={styles['option'] ?? ''}
          >
            {icon !== undefined && <Icon name={icon} />}
            {text}
          </MenuItem>
        ))}
      </AriaMenu>
    </Popover>
  </MenuTrigger>
);
