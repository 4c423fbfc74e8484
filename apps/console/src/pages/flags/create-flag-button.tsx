import { useNavigate } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { Button } from '../../components/buttons/button.tsx';
import { usePageActions } from '../../shell/page-actions.ts';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const CreateFlagDialog = lazyPart(() =>
  import('./create-flag-dialog.tsx').then(({ CreateFlagDialog }) => CreateFlagDialog),
);

interface CreateFlagButtonProps {
  /** the one that is chosen at first */
  readonly project: string | undefined;
  /** whether the page has a more important button */
  readonly isSecondary?: boolean;
}

/** Opens the dialog that creates a flag, also by `c`, and then the page of the flag. */
export function CreateFlagButton({ project, isSecondary = false }: CreateFlagButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  usePageActions([{ id: 'flags.create', title: 'Create a flag', key: 'c', run: () => setOpen(true) }]);
  return (
    <>
      <Button variant={isSecondary ? 'secondary' : 'primary'} icon="add" onPress={() => setOpen(true)}>
        Create a flag
      </Button>
      <Suspense>
        {isOpen && (
          <CreateFlagDialog
            project={project}
            onCreated={(params) => void navigate({ to: '/projects/$project/features/$feature', params })}
            onClose={() => setOpen(false)}
          />
        )}
      </Suspense>
    </>
  );
}
