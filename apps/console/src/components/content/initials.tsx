import { initialsOf } from '../../text/initials.ts';
import styles from './initials.module.css';

/** The initials of a person beside the name, which says the same. Nothing is asked from another host. */
export function Initials({ name }: { readonly name: string }) {
  return <span aria-hidden="true" data-initials={initialsOf(name)} className={styles['initials']} />;
}
