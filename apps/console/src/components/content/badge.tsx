import styles from './content.module.css';
import { type Tone, toneClass } from './tone.ts';

/** A short word in a coloured field, such as a state. */
export const Badge = ({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: React.ReactNode }) => (
  <span className={`${styles['badge']} ${toneClass(tone)}`}>{children}</span>
);
