import styles from './content.module.css';

export type Tone = 'neutral' | 'good' | 'warning' | 'danger' | 'accent';

export function toneClass(tone: Tone): string {
  return tone === 'neutral' ? '' : (styles[tone] ?? '');
}

/** A short word in a coloured field, such as a state. */
export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: React.ReactNode }) {
  return <span className={`${styles['badge']} ${toneClass(tone)}`}>{children}</span>;
}
