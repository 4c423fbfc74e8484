import { ChangeOwnPassword, type RequestOf } from '@bunting/contracts';
import { useMutation } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { sendAfterSignIn, urlOf } from '../../api/call.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { showServerError } from '../../components/forms/show-server-error.ts';
import { NewPasswordFields, PasswordField } from '../../components/forms/password-fields.tsx';
import { notify } from '../../shell/toasts.tsx';

/** Changes the password of the user, which ends the sessions in all other browsers. */
export const ChangePasswordDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const { control, handleSubmit, setError, formState } = useForm({
    defaultValues: { oldPassword: '', password: '', confirmPassword: '' },
  });
  const changePassword = useMutation({
    mutationFn: (body: RequestOf<typeof ChangeOwnPassword>['body']) =>
      sendAfterSignIn('POST', urlOf(ChangeOwnPassword, {}), { body }),
    onSuccess: () => {
      notify('Your password is changed. Other browsers are signed out.');
      onClose();
    },
  });
  const submit = handleSubmit(async (body) => {
    if (body.password !== body.confirmPassword)
      return setError('confirmPassword', { message: 'The two passwords differ.' });
    try {
      await changePassword.mutateAsync(body);
    } catch (error) {
      showServerError(error, ['oldPassword', 'password', 'confirmPassword'], setError);
    }
  });
  return (
    <Dialog
      title="Change the password"
      onClose={onClose}
      onSubmit={(event) => void submit(event)}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
            Set the password
          </Button>
        </>
      }
    >
      {formState.errors.root?.message !== undefined && <Notice tone="danger">{formState.errors.root.message}</Notice>}
      <PasswordField control={control} name="oldPassword" label="Present password" autoFocus />
      <NewPasswordFields control={control} password="password" repeatedPassword="confirmPassword" />
    </Dialog>
  );
};
