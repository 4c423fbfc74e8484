import type { CreateStrategyTypeBody } from '@bunting/contracts';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { Select, Switch, TextField } from '../../../components/forms/fields.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';

const texts = {
  parameterTypes: {
    string: 'Text',
    percentage: 'Percentage',
    list: 'List',
    number: 'Number',
    boolean: 'Yes or no',
  },
} as const;

export type ParameterDefinition = CreateStrategyTypeBody['parameters'][number];

interface ParameterDefinitionsEditorProps {
  readonly parameters: readonly ParameterDefinition[];
  readonly onChange: (parameters: readonly ParameterDefinition[]) => void;
}

const types = Object.entries(texts.parameterTypes).map(([id, label]) => ({ id, label }));

/** The editor of the parameters that strategies of a type have: their names, types and descriptions. */
export const ParameterDefinitionsEditor = ({ parameters, onChange }: ParameterDefinitionsEditorProps) => {
  const edit = (index: number, change: Partial<ParameterDefinition>): void =>
    onChange(parameters.with(index, { ...(parameters[index] as ParameterDefinition), ...change }));
  return (
    <fieldset className={styles['rows']}>
      <legend className={styles['legend']}>Parameters</legend>
      <p className={layout['small']}>What a strategy of this type asks for. Your SDKs read them by name.</p>
      {parameters.map(({ name, type = 'string', description = '', required = false }, index) => (
        <div key={index} className={styles['parameter']}>
          <TextField label="Name" value={name} onChange={(change) => edit(index, { name: change })} />
          <Select
            label="Kind"
            options={types.some(({ id }) => id === type) ? types : [...types, { id: type, label: type }]}
            value={type}
            onChange={(change) => edit(index, { type: change })}
          />
          <TextField
            label="What it decides"
            value={description}
            onChange={(change) => edit(index, { description: change })}
          />
          <Switch isSelected={required} onChange={(change) => edit(index, { required: change })}>
            Needed
          </Switch>
          <IconButton
            icon="remove"
            label={`Remove the parameter ${name}`}
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
          Add a parameter
        </Button>
      </div>
    </fieldset>
  );
};
