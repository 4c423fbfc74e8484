import styles from './button.module.css';

type Variant = 'primary' | 'secondary' | 'quiet' | 'danger';

export interface Appearance {
  readonly variant?: Variant;
  readonly size?: 'small' | 'medium';
}

/** The CSS classes of a button, also for a link that looks like one. */
export function buttonClass({ variant = 'secondary', size = 'medium' }: Appearance = {}): string {
  return [styles['button'], variant === 'secondary' ? '' : styles[variant], size === 'small' ? styles['small'] : '']
    .filter(Boolean)
    .join(' ');
}
