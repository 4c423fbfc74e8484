import { Checkbox as AriaCheckbox, type CheckboxProps } from 'react-aria-components/Checkbox';
import {
  FieldError,
  Input,
  Label,
  Switch as AriaSwitch,
  type SwitchProps,
  Text,
  TextArea,
  TextField as AriaTextField,
} from 'react-aria-components';
import { Icon } from '../content/icon.tsx';
import styles from './field.module.css';

interface LabelAndMessages {
  readonly label: string;
  /** an explanation of the field, which screen readers read with it */
  readonly hint?: React.ReactNode;
  /** why the value is not accepted */
  readonly error?: string | undefined;
}

export function FieldMessages({ hint, error }: Omit<LabelAndMessages, 'label'>) {
  return (
    <>
      {hint !== undefined && (
        <Text slot="description" className={styles['hint'] ?? ''}>
          {hint}
        </Text>
      )}
      <FieldError className={styles['error'] ?? ''}>{error}</FieldError>
    </>
  );
}

interface TextFieldProps extends LabelAndMessages {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onBlur?: () => void;
  readonly name?: string;
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'datetime-local';
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
  readonly isReadOnly?: boolean;
  /** the number of lines; without it, one line that cannot grow */
  readonly rows?: number;
}

export function TextField({ label, hint, error, placeholder, rows, ...props }: TextFieldProps) {
  return (
    <AriaTextField
      {...props}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className={styles['field'] ?? ''}
    >
      <Label className={styles['label'] ?? ''}>{label}</Label>
      {rows === undefined ? (
        <Input className={styles['input'] ?? ''} placeholder={placeholder} />
      ) : (
        <TextArea className={styles['input'] ?? ''} placeholder={placeholder} rows={rows} />
      )}
      <FieldMessages hint={hint} error={error} />
    </AriaTextField>
  );
}

export interface SelectOption {
  readonly id: string;
  readonly label: string;
  readonly description?: string | undefined;
}

export interface ChoiceProps extends LabelAndMessages {
  readonly options: readonly SelectOption[];
  readonly value: string | null;
  readonly onChange: (value: string) => void;
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
}

export interface ComboBoxProps extends ChoiceProps {
  /** whether its list opens as soon as it has the focus; default: true */
  readonly opensOnFocus?: boolean;
}

type Labelled<P> = Omit<P, 'className' | 'style' | 'children'> & { readonly children?: React.ReactNode };

/** A checkbox. Without children, which are the label beside it, it needs an `aria-label`. */
export function Checkbox({ children, ...props }: Labelled<CheckboxProps>) {
  return (
    <AriaCheckbox {...props} className={styles['check'] ?? ''}>
      {({ isIndeterminate }) => (
        <>
          <span className={styles['box']}>
            {isIndeterminate ? (
              <svg viewBox="0 0 16 16" stroke="currentColor" strokeWidth="2" aria-hidden="true">
                <path d="M4 8h8" />
              </svg>
            ) : (
              <Icon name="check" />
            )}
          </span>
          {children}
        </>
      )}
    </AriaCheckbox>
  );
}

/** A switch that is on or off. Without children, which are the label beside it, it needs an `aria-label`. */
export function Switch({ children, ...props }: Labelled<SwitchProps>) {
  return (
    <AriaSwitch {...props} className={styles['check'] ?? ''}>
      <span className={styles['track']} />
      {children}
    </AriaSwitch>
  );
}
