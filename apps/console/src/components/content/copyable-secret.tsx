import { useState } from 'react';
import { copyText } from '../../shell/copy-text.ts';
import { Button } from '../buttons/button.tsx';
import styles from './secret.module.css';

/**
 * A secret that is shown once, with a button that copies it. Browsers copy on secure origins only; elsewhere there is no button, and a
 * click selects the secret.
 */
export function CopyableSecret({ label, value }: { readonly label: string; readonly value: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    setCopied(await copyText(value));
  };
  return (
    <div className={styles['secret']}>
      <code aria-label={label}>{value}</code>
      {window.isSecureContext && (
        <Button icon={isCopied ? 'check' : 'copy'} onPress={() => void copy()}>
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </div>
  );
}
