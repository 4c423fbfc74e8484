import { memo, Suspense, useState } from 'react';
import { Button } from '../buttons/button.tsx';
import { lazyPart } from '../content/lazy-part.tsx';

const EnvironmentsDialog = lazyPart(() =>
  import('./environments-dialog.tsx').then(({ EnvironmentsDialog }) => EnvironmentsDialog),
);

interface EnvironmentsButtonProps {
  readonly environments: readonly { readonly name: string; readonly type?: string | undefined }[];
  readonly shown: readonly { readonly name: string }[];
}

/** Says how many environments are shown, and opens the choice of them. There is none for fewer than three. */
export const EnvironmentsButton = memo(({ environments, shown }: EnvironmentsButtonProps) => {
  const [isOpen, setOpen] = useState(false);
  if (environments.length < 3) return null;
  return (
    <>
      <Button icon="filter" onPress={() => setOpen(true)}>
        {shown.length < environments.length
          ? `${shown.length} of ${environments.length} environments`
          : `${environments.length} environments`}
      </Button>
      <Suspense>
        {isOpen && <EnvironmentsDialog environments={environments} shown={shown} onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  );
});
EnvironmentsButton.displayName = 'EnvironmentsButton';
