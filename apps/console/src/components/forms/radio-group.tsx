import { Label, Radio as AriaRadio, RadioGroup as AriaRadioGroup } from 'react-aria-components';
import { type ChoiceProps, FieldMessages } from './fields.tsx';
import styles from './field.module.css';

/** A choice of one of a few options, all visible. */
export function RadioGroup({ label, hint, error, options: items, value, onChange, ...props }: ChoiceProps) {
  return (
    <AriaRadioGroup
      {...props}
      value={value}
      onChange={onChange}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className={styles['field'] ?? ''}
    >
      <Label className={styles['label'] ?? ''}>{label}</Label>
      {items.map((item) => (
        <AriaRadio key={item.id} value={item.id} className={`${styles['check']} ${styles['round']}`}>
          <span className={styles['box']} />
          <span>
            {item.label} {item.description !== undefined && <span className={styles['hint']}>{item.description}</span>}
          </span>
        </AriaRadio>
      ))}
      <FieldMessages hint={hint} error={error} />
    </AriaRadioGroup>
  );
}
