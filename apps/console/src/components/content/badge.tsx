import styles from './content.module.css';

export type Tone = 'neutral' | 'good' | 'warning' | 'danger' | 'accent';

export const toneClass = (tone: Tone): string => (tone === 'neutral' ? '' : (styles[tone] ?? ''));

/** A short word in a coloured field, such as a state. */
export const Badge = ({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: React.ReactNode }) => (
  <span className={`${styles['badge']} ${toneClass(tone)}`}>{children}</span>
);
