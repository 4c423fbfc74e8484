import { ApiError } from '../../api/api-error.ts';
import { explainError } from '../../text/explain-error.ts';
import { Button } from '../buttons/button.tsx';
import { Icon } from './icon.tsx';
import styles from './content.module.css';
import { toneClass } from './badge.tsx';

interface NoticeProps {
  readonly tone?: 'neutral' | 'warning' | 'danger';
  readonly children: React.ReactNode;
  readonly actions?: React.ReactNode;
}

/** A sentence that the reader must not miss. With the tone `danger`, screen readers announce it. */
export function Notice({ tone = 'neutral', children, actions }: NoticeProps) {
  return (
    <div role={tone === 'danger' ? 'alert' : undefined} className={`${styles['notice']} ${toneClass(tone)}`}>
      <Icon name={tone === 'neutral' ? 'info' : 'warning'} />
      <div className={styles['noticeBody']}>
        <div>{children}</div>
        {actions}
      </div>
    </div>
  );
}

/** The explanation of an error, with the details that the server gives, and a button that retries; nothing where there is no error. */
export function ErrorNotice({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  if (error == null) return null;
  return (
    <Notice
      tone="danger"
      actions={
        retry !== undefined && (
          <Button size="small" onPress={retry}>
            Try again
          </Button>
        )
      }
    >
      {explainError(error)}
      {error instanceof ApiError && error.details.length > 1 && (
        <ul>
          {error.details.map(({ message }, index) => (
            <li key={index}>{message}</li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
