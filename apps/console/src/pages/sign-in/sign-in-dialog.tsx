import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import type { SignInOffer } from '../../api/pending-sign-in.ts';
import dialogStyles from '../../components/dialogs/dialog.module.css';
import { FocusReturn } from '../../components/dialogs/focus-return.tsx';
import icon from '../../icon.svg';
import { SignInForm } from './sign-in-form.tsx';
import styles from './sign-in.module.css';

/** The sign-in form over the page. The page below stays mounted, so that what was typed in it is not lost. */
export function SignInDialog({ offer }: { readonly offer: SignInOffer }) {
  const client = useQueryClient();
  useEffect(() => () => void client.invalidateQueries(), [client]);
  return (
    <ModalOverlay isOpen isKeyboardDismissDisabled className={dialogStyles['backdrop'] ?? ''}>
      <Modal className={`${dialogStyles['modal']} ${styles['modal']}`}>
        <Dialog className={styles['body'] ?? ''}>
          <FocusReturn />
          <div role="group" aria-labelledby="sign-in" className={styles['group']}>
            <Heading slot="title" id="sign-in" level={1} className={styles['title'] ?? ''}>
              <img src={icon} alt="" width="24" height="24" />
              Sign in
            </Heading>
            <SignInForm offer={offer} hadSession onSignedIn={() => undefined} />
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
