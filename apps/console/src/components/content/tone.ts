import styles from './content.module.css';

export type Tone = 'neutral' | 'good' | 'warning' | 'danger' | 'accent';

export const toneClass = (tone: Tone): string => (tone === 'neutral' ? '' : (styles[tone] ?? ''));
