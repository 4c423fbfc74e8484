import { Button, IconButton } from '../buttons/button.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { Checkbox } from '../forms/fields.tsx';
import { EnvironmentName } from './environment-name.tsx';
import { inPreferredOrder, setEnvironmentPreference, useEnvironmentPreference } from './environment-preference.ts';
import styles from './environments.module.css';

interface EnvironmentsDialogProps {
  readonly environments: readonly { readonly name: string; readonly type?: string | undefined }[];
  readonly shown: readonly { readonly name: string }[];
  readonly onClose: () => void;
}

/** Chooses which environments a person sees in this browser, and in which order. What is chosen applies at once. */
export function EnvironmentsDialog({ environments, shown, onClose }: EnvironmentsDialogProps) {
  const preference = useEnvironmentPreference();
  const ordered = inPreferredOrder(environments, preference);
  const isShown = (name: string): boolean => shown.some((one) => one.name === name);
  // Environments of other projects keep what was chosen for them.
  const others = preference.hidden.filter((name) => !environments.some((one) => one.name === name));
  const show = (name: string, isVisible: boolean): void => {
    const hidden = environments
      .filter((one) => (one.name === name ? !isVisible : !isShown(one.name)))
      .map((one) => one.name);
    setEnvironmentPreference({ ...preference, hidden: [...others, ...hidden] });
  };
  const move = (index: number, step: -1 | 1): void => {
    const order = ordered.map(({ name }) => name);
    const [moved] = order.splice(index, 1);
    order.splice(index + step, 0, moved as string);
    setEnvironmentPreference({ ...preference, first: order });
  };
  return (
    <Dialog
      title="Environments that you see"
      onClose={onClose}
      footer={
        <>
          <Button onPress={() => setEnvironmentPreference({ first: [], hidden: [] })}>As usual</Button>
          <Button variant="primary" onPress={onClose} autoFocus>
            Done
          </Button>
        </>
      }
    >
      <p>In the lists of flags and on their pages, in this browser. Others see what they choose.</p>
      <ol className={styles['list']}>
        {ordered.map(({ name, type }, index) => (
          <li key={name}>
            <Checkbox
              isSelected={isShown(name)}
              isDisabled={isShown(name) && shown.length === 1}
              onChange={(isVisible) => show(name, isVisible)}
            >
              <EnvironmentName name={name} type={type} />
            </Checkbox>
            <span className={styles['moves']}>
              <IconButton
                icon="arrowUp"
                label={`Move ${name} up`}
                isDisabled={index === 0}
                onPress={() => move(index, -1)}
              />
              <IconButton
                icon="arrowDown"
                label={`Move ${name} down`}
                isDisabled={index === ordered.length - 1}
                onPress={() => move(index, 1)}
              />
            </span>
          </li>
        ))}
      </ol>
      <Checkbox
        isSelected={preference.hidesUsage !== true}
        onChange={(isShown) => setEnvironmentPreference({ ...preference, hidesUsage: !isShown })}
      >
        Usage of the last days in lists
      </Checkbox>
    </Dialog>
  );
}
