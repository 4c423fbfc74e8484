import type { CreateStrategyTypeBody } from '@bunting/contracts';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { Select, Switch, TextField } from '../../../components/forms/fields.tsx';
import { strategyTypesMessages as text } from '../../../messages/administration/strategy-types.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';

export type ParameterDefinition = CreateStrategyTypeBody['parameters'][number];

interface ParameterDefinitionsEditorProps {
  readonly parameters: readonly ParameterDefinition[];
  readonly onChange: (parameters: readonly ParameterDefinition[]) => void;
}

const types = Object.entries(text.parameterTypes).map(([id, label]) => ({ id, label }));

/** The editor of the parameters that strategies of a type have: their names, types and descriptions. */
export const ParameterDefinitionsEditor = ({ parameters, onChange }: ParameterDefinitionsEditorProps) => {
  const edit = (index: number, change: Partial<ParameterDefinition>): void =>
    onChange(parameters.with(index, { ...(parameters[index] as ParameterDefinition), ...change }));
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
