import type { CreateStrategyTypeBody } from '@bunting/contracts';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { Select, Switch, TextField } from '../../../components/forms/fields.tsx';
import { strategyTypesMessages as text } from '../../../messages/administration/strategy-types.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';

export type StrategyParameter = CreateStrategyTypeBody['parameters'][number];

interface StrategyParametersProps {
  readonly parameters: readonly StrategyParameter[];
  readonly onChange: (parameters: readonly StrategyParameter[]) => void;
}

const types = Object.entries(text.parameterTypes).map(([id, label]) => ({ id, label }));

/** The editor of the parameters of a strategy type. */
export const StrategyParameters = ({ parameters, onChange }: StrategyParametersProps) => {
  const edit = (at: number, changed: Partial<StrategyParameter>): void =>
    onChange(parameters.with(at, { ...(parameters[at] as StrategyParameter), ...changed }));
  return (
    <fieldset className={styles['rows']}>
      <legend className={styles['legend']}>{text.parameters}</legend>
      <p className={layout['small']}>{text.parametersHint}</p>
      {parameters.map(({ name, type = 'string', description = '', required = false }, at) => (
        <div key={at} className={styles['parameter']}>
          <TextField label={text.parameterName} value={name} onChange={(changed) => edit(at, { name: changed })} />
          <Select
            label={text.parameterType}
            options={types.some(({ id }) => id === type) ? types : [...types, { id: type, label: type }]}
            value={type}
            onChange={(changed) => edit(at, { type: changed })}
          />
          <TextField
            label={text.parameterDescription}
            value={description}
            onChange={(changed) => edit(at, { description: changed })}
          />
          <Switch isSelected={required} onChange={(changed) => edit(at, { required: changed })}>
            {text.required}
          </Switch>
          <IconButton
            icon="remove"
            label={text.removeParameter(name)}
            onPress={() => onChange(parameters.toSpliced(at, 1))}
          />
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon="add"
          onPress={() => onChange([...parameters, { name: '', type: 'string', required: false }])}
        >
          {text.addParameter}
        </Button>
      </div>
    </fieldset>
  );
};
