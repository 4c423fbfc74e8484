import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { Icon, type IconName } from '../content/icon.tsx';
import { type Appearance, buttonClass } from './button-class.ts';
import styles from './button.module.css';

export { buttonClass };

type ButtonProps = Omit<AriaButtonProps, 'className' | 'style' | 'children' | 'isPending'> &
  Appearance & {
    readonly icon?: IconName;
    /** whether the action that it started is still running: a further press does nothing, and the button keeps the focus */
    readonly isPending?: boolean;
    readonly children: React.ReactNode;
  };

export function Button({ variant, size, icon, isPending = false, type, onPress, children, ...props }: ButtonProps) {
  return (
    <AriaButton
      {...props}
      {...(isPending ? { type: 'button' as const } : { ...(type && { type }), ...(onPress && { onPress }) })}
      className={`${buttonClass({ ...(variant && { variant }), ...(size && { size }) })} ${isPending ? styles['pending'] : ''}`}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
      {isPending && <span className="visually-hidden">(working)</span>}
    </AriaButton>
  );
}

type IconButtonProps = Omit<AriaButtonProps, 'className' | 'style' | 'children' | 'aria-label'> &
  Appearance & { readonly icon: IconName; readonly filled?: boolean; readonly label: string };

/** A button that shows an icon alone; the label is its accessible name and its tooltip. */
export function IconButton({ variant = 'quiet', size, icon, filled = false, label, ...props }: IconButtonProps) {
  return (
    <span title={label}>
      <AriaButton
        {...props}
        aria-label={label}
        className={`${buttonClass({ variant, ...(size && { size }) })} ${styles['icon']}`}
      >
        <Icon name={icon} filled={filled} />
      </AriaButton>
    </span>
  );
}

interface PlaceOfButtonProps {
  readonly isHidden: boolean;
  readonly children: React.ReactNode;
}

/**
 * What stands in the head of a page once it is known to be offered, such as the button that creates a thing. An empty list has the button
 * in its middle instead: until it is known to be empty or not, its place in the head is kept, so that a button does not go away from under
 * the pointer.
 */
export function PlaceOfButton({ isHidden, children }: PlaceOfButtonProps) {
  return isHidden ? <span className={styles['hidden']}>{children}</span> : children;
}
