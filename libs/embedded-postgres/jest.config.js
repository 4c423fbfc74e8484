import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'embedded-postgres', rootDir: import.meta.dirname };
