import { Suspense, useState } from 'react';
import { Button } from '../../components/buttons/button.tsx';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const ConnectSdkDialog = lazyPart(() =>
  import('./connect-sdk-dialog.tsx').then(({ ConnectSdkDialog }) => ConnectSdkDialog),
);

interface ConnectSdkButtonProps {
  readonly project?: string | undefined;
  /** the flag that the program asks for */
  readonly flag?: string | undefined;
  readonly size?: 'small' | 'medium';
  /** whether it is what one should do next on the page */
  readonly isPrimary?: boolean;
}

/** Opens the dialog that connects an application. */
export function ConnectSdkButton({ project, flag, size = 'medium', isPrimary = false }: ConnectSdkButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant={isPrimary ? 'primary' : 'secondary'} icon="connect" size={size} onPress={() => setOpen(true)}>
        Connect an SDK
      </Button>
      <Suspense>{isOpen && <ConnectSdkDialog project={project} flag={flag} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
