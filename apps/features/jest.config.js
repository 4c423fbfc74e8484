import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'features', rootDir: import.meta.dirname };
