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
  const edit = (index: number, change: Partial<StrategyParameter>): void =>
    onChange(parameters.with(index, { ...(parameters[index] as StrategyParameter), ...change }));
  return (
    <fieldset className={styles['rows']}>
      <legend className={styles['legend']}>{text.parameters}</legend>
      <p className={layout['small']}>{text.parametersHint}</p>
      {parameters.map(({ name, type = 'string', description = '', required = false }, index) => (
        <div key={index} className={styles['parameter']}>
          <TextField label={text.parameterName} value={name} onChange={(change) => edit(index, { name: change })} />
          <Select
            label={text.parameterType}
            options={types.some(({ id }) => id === type) ? types : [...types, { id: type, label: type }]}
            value={type}
            onChange={(change) => edit(index, { type: change })}
          />
          <TextField
            label={text.parameterDescription}
            value={description}
            onChange={(change) => edit(index, { description: change })}
          />
          <Switch isSelected={required} onChange={(change) => edit(index, { required: change })}>
            {text.required}
          </Switch>
          <IconButton
            icon="remove"
            label={text.removeParameter(name)}
            onPress={() => onChange(parameters.toSpliced(index, 1))}
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
